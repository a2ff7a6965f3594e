//! The runtime against AWS's emulator of Lambda Managed Instances, which sends several invocations
//! at a time.

use bytes::Bytes;
use futures_util::future::join_all;
use presized_lambda_invoke::ErrorKind;
use tokio::task::yield_now;

use crate::function::{CHUNKS, CONCURRENCY, FAILURE, MESSAGE, content};
use crate::report::Report;
use crate::rie::Rie;
use crate::{RESPONSE_MAX, within_time};
use presized_support::rie::FUNCTION;

#[tokio::test]
async fn each_caller_gets_its_own_response() {
    let Some(rie) = Rie::start_concurrent(CONCURRENCY, 60) else { return };
    within_time(async {
        let calls = (0..16).map(|number| {
            let (rie, event) = (&rie, format!("meet {number}"));
            async move { assert_eq!(invoke(rie, event.clone()).await, event) }
        });
        join_all(calls).await;
    })
    .await;
}

#[tokio::test]
async fn event_of_any_length_is_echoed() {
    let Some(rie) = Rie::start_concurrent(CONCURRENCY, 60) else { return };
    within_time(async {
        for length in [0, 1, 2047, 2048, 2049, 60_000, 6_000_000] {
            let sent = content(length);
            assert!(invoke(&rie, sent.clone()).await == sent, "{length} bytes");
        }
        let largest = invoke(&rie, format!("respond {RESPONSE_MAX}")).await;
        assert!(largest == content(RESPONSE_MAX));
        let refused = invoke(&rie, format!("respond {}", RESPONSE_MAX + 1)).await;
        assert_eq!(refused, r#"{"errorType":"Function.ResponseSizeTooLarge"}"#);
        rie.log_with("response too large: RequestEntityTooLarge (status 413)").await;
        assert_eq!(invoke(&rie, "after").await, "after");
    })
    .await;
}

#[tokio::test]
async fn errors_and_panics_do_not_affect_other_calls() {
    let Some(rie) = Rie::start_concurrent(CONCURRENCY, 60) else { return };
    within_time(async {
        let others = async {
            for number in 0..20 {
                let event = number.to_string();
                assert_eq!(invoke(&rie, event.clone()).await, event);
            }
        };
        let failing = async {
            for (command, error_type) in [("fail", FAILURE), ("panic", "Function.Panic")] {
                let report = Report::of(&invoke(&rie, command).await);
                assert_eq!(report, Report::new(error_type, MESSAGE));
            }
        };
        tokio::join!(others, failing);
    })
    .await;
}

#[tokio::test]
async fn broken_stream_ends_in_its_report() {
    let Some(rie) = Rie::start_concurrent(CONCURRENCY, 60) else { return };
    within_time(async {
        assert_eq!(invoke(&rie, "stream").await, CHUNKS.concat());
        let report = Report::of(&invoke(&rie, "broken").await);
        assert_eq!(report, Report::new(FAILURE, MESSAGE));
        rie.log_with("Runtime sent error trailers after response body").await;
        assert_eq!(invoke(&rie, "stream").await, CHUNKS.concat());
    })
    .await;
}

#[tokio::test]
async fn late_response_is_refused_and_others_are_not() {
    let Some(rie) = Rie::start_concurrent(CONCURRENCY, 3) else { return };
    within_time(async {
        let late = async {
            let report = Report::of(&invoke(&rie, "late 4000").await);
            let message = "Task timed out after 3.00 seconds";
            assert_eq!(report, Report::new("Sandbox.Timedout", message));
        };
        let other = async { assert_eq!(invoke(&rie, "other").await, "other") };
        tokio::join!(late, other);
        rie.log_with("response too late: InvokeTimeout (status 410)").await;
        assert_eq!(invoke(&rie, "after").await, "after");
    })
    .await;
}

#[tokio::test]
async fn second_response_is_refused_and_the_next_is_not() {
    let Some(rie) = Rie::start_concurrent(CONCURRENCY, 60) else { return };
    within_time(async {
        assert_eq!(invoke(&rie, "twice").await, "first");
        rie.log_with("response rejected: InvalidRequestID (status 400)").await;
        assert_eq!(invoke(&rie, "after").await, "after");
    })
    .await;
}

/// Calls until the emulator has a free slot. It refuses a call at once if it has none.
async fn invoke(rie: &Rie, event: impl Into<Bytes>) -> Bytes {
    let event = event.into();
    loop {
        match rie.client().invoke(FUNCTION).payload(event.clone()).send().await {
            Ok(response) => return response.payload,
            Err(error) => {
                let ErrorKind::Service(refusal) = error.into_kind() else { panic!("{event:?}") };
                assert_eq!(refusal.body, r#"{"errorType":"Runtime.Unavailable"}"#);
                yield_now().await;
            }
        }
    }
}
