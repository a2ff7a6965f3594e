//! The runtime against AWS's emulator, which sends one invocation at a time.

use presized_lambda_invoke::ErrorKind;

use crate::function::{CHUNKS, FAILURE, MESSAGE, content};
use crate::report::Report;
use crate::rie::Rie;
use crate::{RESPONSE_MAX, within_time};
use presized_support::rie::FUNCTION;

#[tokio::test]
async fn event_of_any_length_is_echoed() {
    let Some(rie) = Rie::start(60) else { return };
    within_time(async {
        for length in [0, 1, 2047, 2048, 2049, 60_000, 6_000_000] {
            let sent = content(length);
            assert!(rie.invoke(sent.clone()).await == sent, "{length} bytes");
        }
    })
    .await;
}

#[tokio::test]
async fn response_over_the_limit_is_refused_and_the_next_is_not() {
    let Some(rie) = Rie::start(60) else { return };
    within_time(async {
        let largest = rie.invoke(format!("respond {RESPONSE_MAX}")).await;
        assert!(largest == content(RESPONSE_MAX));

        let refused = rie.invoke(format!("respond {}", RESPONSE_MAX + 1)).await;
        let message =
            "Response payload size exceeded maximum allowed payload size (6291556 bytes).";
        let report = Report::new("Function.ResponseSizeTooLarge", message);
        assert_eq!(Report::of(&refused), report);
        rie.log_with("response too large: RequestEntityTooLarge (status 413)").await;

        assert_eq!(rie.invoke("after").await, "after");
    })
    .await;
}

#[tokio::test]
async fn process_continues_after_an_error_and_a_panic() {
    let Some(rie) = Rie::start(60) else { return };
    within_time(async {
        for (command, error_type) in [("fail", FAILURE), ("panic", "Function.Panic")] {
            let report = Report::of(&rie.invoke(command).await);
            assert_eq!(report, Report::new(error_type, MESSAGE));
            assert_eq!(rie.invoke("after").await, "after");
        }
        assert_eq!(rie.log_with("INIT REPORT").await.matches("INIT START").count(), 1);
    })
    .await;
}

#[tokio::test]
async fn function_is_started_again_after_a_timeout() {
    let Some(rie) = Rie::start(5) else { return };
    within_time(async {
        assert_eq!(rie.invoke("hang").await, "Task timed out after 5.00 seconds");
        assert_eq!(rie.invoke("after").await, "after");
    })
    .await;
}

// The emulator has no streams for callers. It collects a stream and ignores its trailers.
#[tokio::test]
async fn stream_is_collected() {
    let Some(rie) = Rie::start(60) else { return };
    within_time(async {
        for command in ["stream", "broken", "stream"] {
            assert_eq!(rie.invoke(command).await, CHUNKS.concat(), "{command}");
        }
    })
    .await;
}

#[tokio::test]
async fn second_response_is_refused_and_the_next_is_not() {
    let Some(rie) = Rie::start(60) else { return };
    within_time(async {
        assert_eq!(rie.invoke("twice").await, "first");
        rie.log_with("response rejected: InvalidStateTransition (status 403)").await;
        assert_eq!(rie.invoke("after").await, "after");
    })
    .await;
}

#[tokio::test]
async fn unknown_function_name_is_refused() {
    let Some(rie) = Rie::start(60) else { return };
    within_time(async {
        let error = rie.client().invoke("other").send().await.unwrap_err();
        let ErrorKind::Service(error) = error.into_kind() else { panic!("no error of the server") };
        assert_eq!(error.status, 404);
        assert_eq!(rie.client().invoke(FUNCTION).send().await.unwrap().payload, "");
    })
    .await;
}
