//! Several concurrent invocations.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use presized_lambda_runtime::{Context, ErrorReport, Handler, raw};
use presized_support::chain::messages;
use presized_support::scripted::Reply;
use tokio::sync::Barrier;
use tokio::time::timeout;

use super::{Api, PATIENCE, accepted, event, refused};

fn echo() -> impl Handler {
    raw(async |event: Bytes, _: Context| Ok::<_, Infallible>(event))
}

#[tokio::test]
async fn concurrency_is_the_number_of_invocations_served_at_once() {
    let api = Api::concurrent(4, ["a", "b", "c", "d"].map(|id| event(id, "")));
    let all = Arc::new(Barrier::new(4));
    // No invocation continues before the last one has begun.
    let meet = raw(move |event: Bytes, _: Context| {
        let all = Arc::clone(&all);
        async move {
            all.wait().await;
            Ok::<_, Infallible>(event)
        }
    });
    let mut posted = api.serve(meet).await;
    posted.sort();
    let paths: Vec<_> = posted.iter().map(|(path, _)| &**path).collect();
    assert_eq!(paths, ["a/response", "b/response", "c/response", "d/response"]);
}

#[tokio::test]
async fn failing_invocations_do_not_affect_others() {
    // One of four workers hangs. Each failure comes three times, as often as there are others.
    let kinds = ["hang", "fail", "panic", "good", "fail", "panic", "good", "fail", "panic", "good"];
    let events: Vec<_> = kinds.iter().map(|kind| event(kind, kind)).collect();
    // The worker that hangs does not ask again, so that three requests stay open.
    let api = Api::start(Some(3), events, |_| accepted());
    let function = raw(async |event: Bytes, _: Context| match &event[..] {
        b"hang" => pending().await,
        b"fail" => Err(ErrorReport::new("Failed", "")),
        b"panic" => panic!("a bug of the function"),
        _ => Ok(event),
    });
    let idle = Arc::clone(&api.idle);
    let run = api.runtime(function).concurrency(4).shutdown(pending()).run();
    tokio::select! {
        ended = run => panic!("{ended:?}"),
        idle = timeout(PATIENCE, idle.notified()) => idle.expect("in 20 s"),
    }
    let mut paths: Vec<_> = api.posted().into_iter().map(|(path, _)| path).collect();
    paths.sort();
    let expected = ["fail/error", "good/response", "panic/error"].map(|path| [path; 3]);
    assert_eq!(paths, expected.concat());
}

#[tokio::test]
async fn worker_of_several_tries_five_times_to_receive_an_invocation() {
    let failures = || [Reply::Close("".into()), refused("503 Service Unavailable", "Other")];
    let failures = [failures(), failures()].concat();
    // Four failures are followed by a fifth attempt.
    let api = Api::concurrent(1, [&failures[..], &[event("a", "")]].concat());
    let posted = api.serve(echo()).await;
    assert_eq!(posted.len(), 1);
    // Five failures end the worker.
    let api =
        Api::concurrent(1, [&failures[..], &[Reply::Close("".into()), event("a", "")]].concat());
    let error = api.run(api.runtime(echo())).await.unwrap_err();
    assert!(!error.is_fatal(), "{error}");
    assert_eq!(api.paths().len(), 5);
}

#[tokio::test]
async fn other_workers_continue_after_one_has_failed() {
    let fatal = refused("500 Internal Server Error", "Fatal");
    let events = [fatal.clone(), event("a", ""), event("b", ""), event("c", ""), fatal];
    let api = Api::concurrent(2, events);
    let error = api.run(api.runtime(echo())).await.unwrap_err();
    assert!(error.is_fatal(), "{error}");
    assert_eq!(api.posted().len(), 3);
}

#[tokio::test]
async fn invocation_hook_is_not_called_with_a_concurrency() {
    let api = Api::concurrent(2, [event("a", ""), event("b", "")]);
    let calls = Arc::new(AtomicUsize::new(0));
    let hook = Arc::clone(&calls);
    let runtime = api.runtime(echo()).on_invocation(move |_| {
        hook.fetch_add(1, Ordering::SeqCst);
    });
    api.run(runtime).await.unwrap();
    assert_eq!((api.posted().len(), calls.load(Ordering::SeqCst)), (2, 0));
}

#[tokio::test]
async fn concurrency_of_zero_is_an_error() {
    let api = Api::new([]);
    let error = api.run(api.runtime(echo()).concurrency(0)).await.unwrap_err();
    assert!(error.is_fatal(), "{error}");
    let expected = ["runtime configuration is invalid", "concurrency must be at least 1"];
    assert_eq!(messages(&error), expected);
    assert!(api.paths().is_empty());
}
