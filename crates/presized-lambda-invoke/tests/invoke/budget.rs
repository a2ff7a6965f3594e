//! Calls that wait for the memory budget of their reader.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http_body_util::Full;
use presized::{Collect, MemoryBudget, Reader};
use presized_lambda_invoke::{Client, Error, ErrorKind, Invocation, InvocationType, Outcome};
use presized_support::log::Log;
use presized_support::scripted::{Reply, Scripted};

use super::texts::text;
use super::{builder, service_error};

/// Starts a server whose responses take the whole budget of the client.
fn full(timeout: Duration) -> (Scripted, Client, MemoryBudget) {
    let server = Scripted::start(|_, _| {
        Reply::response("200 OK", &[("x-amzn-RequestId", "r-1")], vec![b'x'; MIB])
    });
    let budget = MemoryBudget::new(MIB as u64);
    let reader = Reader::new(MIB as u64).budget(&budget);
    let client = builder(&server).reader(reader).timeout(timeout).build().unwrap();
    (server, client, budget)
}

/// Runs two calls at the same time, and returns the one whose response takes the whole budget and
/// the error of the other. Both are sent, because no response has arrived before.
async fn both(call: impl AsyncFn() -> Result<Invocation, Error>) -> (Invocation, Error) {
    match tokio::join!(call(), call()) {
        (Ok(first), Err(second)) | (Err(second), Ok(first)) => (first, second),
        other => panic!("one response fits: {other:?}"),
    }
}

#[tokio::test]
async fn response_that_waits_for_the_budget_until_the_deadline_says_so() {
    let (server, client, _) = full(PATIENCE);
    let (first, error) = both(async || client.invoke("f").send().await).await;
    assert_eq!(first.payload.len(), MIB);
    assert_eq!(
        text(&error),
        "timed out after TIME: the response waited for 1048576 bytes of the memory budget (1048576 \
         of 1048576 bytes are in use): use a larger budget, fewer calls at a time or a smaller \
         limit; the function may have run"
    );
    assert!(error.is_budget_full() && !error.is_timeout() && error.is_transient(), "{error:?}");
    assert!(error.may_have_run());
    assert_eq!((error.request_id(), error.attempts()), (Some("r-1"), 1));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn response_that_waits_until_the_attempt_timeout_is_not_fetched_again() {
    let (server, client, _) = full(Duration::from_secs(20));
    let (first, error) = both(async || {
        let call = client.invoke("f").retry_after_send(true);
        call.attempt_timeout(PATIENCE).send().await
    })
    .await;
    assert_eq!(first.payload.len(), MIB);
    assert!(error.is_budget_full(), "{error:?}");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn call_is_not_sent_while_the_budget_is_full() {
    let (server, client, budget) = full(Duration::from_secs(20));
    let first = client.invoke("f").send().await.unwrap();
    let second = client.invoke("f").timeout(Duration::from_millis(50)).send().await;
    let error = second.unwrap_err();
    assert_eq!(
        text(&error),
        "timed out after TIME: the call was not sent, because of a full memory budget (1048576 of \
         1048576 bytes are in use): use a larger budget, fewer calls at a time or a smaller limit"
    );
    let ErrorKind::BudgetFull { requested, capacity, in_use, .. } = error.kind() else {
        panic!("{error:?}")
    };
    assert_eq!((*requested, *capacity, *in_use), (None, MIB as u64, MIB as u64));
    assert_eq!((error.may_have_run(), error.attempts(), server.requests().len()), (false, 0, 1));

    let (third, ()) = tokio::join!(client.invoke("f").send(), async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(server.requests().len(), 1);
        drop(first);
    });
    assert_eq!(third.unwrap().payload.len(), MIB);
    assert_eq!((server.requests().len(), budget.in_use()), (2, 0));
}

#[tokio::test]
async fn call_that_is_not_sent_again_says_so() {
    let budget = MemoryBudget::new(4);
    let (held, shared) = (Mutex::new(Vec::new()), budget.clone());
    let server = Scripted::start(move |_, _| {
        let part = Full::new(Bytes::from_static(b"part"));
        let part = Collect::new(part, Reader::new(4).budget(&shared)).bytes().now_or_never();
        held.lock().unwrap().push(part.expect("there is room").unwrap());
        service_error("429 Too Many Requests", "TooManyRequestsException")
    });
    let client = builder(&server).reader(Reader::new(4).budget(&budget)).build().unwrap();
    let error = client.invoke("f").timeout(PATIENCE).send().await.unwrap_err();
    assert_eq!(
        text(&error),
        "timed out after TIME: the call was not sent again, because of a full memory budget (4 of 4 \
         bytes are in use): use a larger budget, fewer calls at a time or a smaller limit"
    );
    assert_eq!((error.attempts(), error.may_have_run(), server.requests().len()), (1, false, 1));
}

#[tokio::test]
async fn call_that_waits_to_be_retried_holds_no_memory_of_the_budget() {
    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n";
    let half = [&half[..], &[b'x'; MIB / 2]].concat();
    let server = Scripted::start(move |_, _| Reply::Close(half.clone().into()));
    let budget = MemoryBudget::new(MIB as u64);
    let day = Duration::from_secs(86_400);
    let client = builder(&server)
        .reader(Reader::new(MIB as u64).budget(&budget))
        .backoff(day, day)
        .timeout(2 * day)
        .retry_after_send(true)
        .build()
        .unwrap();
    let before = client.retry_quota();
    let failed = async {
        while client.retry_quota() == before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!((budget.in_use(), server.requests().len()), (0, 1));
    };
    tokio::select! {
        _ = client.invoke("f").send() => panic!("the wait takes a day"),
        () = failed => {}
    }
}

#[tokio::test]
async fn call_without_a_response_payload_does_not_wait_for_the_budget() {
    let (server, client, _) = full(PATIENCE);
    let first = client.invoke("f").send().await.unwrap();
    for invocation_type in [InvocationType::Event, InvocationType::DryRun] {
        let call = client.invoke("f").invocation_type(invocation_type).send().await;
        // The server sends the same response, which waits.
        assert!(call.unwrap_err().may_have_run());
    }
    assert!(client.invoke_streaming("f").send().await.is_ok());
    assert_eq!(server.requests().len(), 4);
    drop(first);
}

#[tokio::test]
async fn call_under_a_budget_that_fails_fast_is_sent() {
    let (server, _, budget) = full(PATIENCE);
    let reader = Reader::new(MIB as u64).budget(&budget.fail_fast());
    let client = builder(&server).reader(reader).build().unwrap();
    let first = client.invoke("f").send().await.unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Memory(_)), "{error:?}");
    assert_eq!(server.requests().len(), 2);
    drop(first);
}

#[tokio::test]
async fn long_wait_for_the_budget_is_logged_once_a_call() {
    let log = Log::of_this_thread();
    let (server, client, _) = full(Duration::from_millis(2500));
    let (first, _) = both(async || client.invoke("f").send().await).await;
    let third = client.invoke("f").timeout(Duration::from_millis(50)).send().await;
    assert!(third.is_err());
    drop(first);
    let log = log.finish();
    assert_eq!(log.matches("call has waited 1s for the memory budget").count(), 1, "{log}");
    assert!(log.contains("in_use=1048576"), "{log}");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn wait_for_the_budget_is_reported() {
    let (server, _, budget) = full(Duration::ZERO);
    let reports = Arc::new(Mutex::new(Vec::new()));
    let ours = Arc::clone(&reports);
    let client = builder(&server)
        .reader(Reader::new(MIB as u64).budget(&budget))
        .on_call(move |report| {
            let waited = !report.budget_wait.is_zero();
            assert!(report.budget_wait <= report.elapsed);
            ours.lock().unwrap().push((report.outcome, waited));
        })
        .build()
        .unwrap();
    let first = client.invoke("f").send().await.unwrap();
    let second = client.invoke("f").timeout(Duration::from_millis(50)).send().await;
    assert!(second.is_err());
    drop(first);
    let call = async || client.invoke("f").timeout(PATIENCE).send().await;
    drop(both(call).await);
    let expected = [
        (Outcome::Succeeded, false),
        (Outcome::BudgetFull, true),
        (Outcome::Succeeded, false),
        (Outcome::BudgetFull, true),
    ];
    assert_eq!(*reports.lock().unwrap(), expected);
}

const MIB: usize = 1 << 20;

/// Shorter than a wait that is logged. The first thread that reaches the log line decides whether it
/// is logged at all, and only the thread of one test has a log.
const PATIENCE: Duration = Duration::from_millis(900);
