//! AWS's emulator as most functions see Lambda: one invocation after the other.

use presized_lambda_invoke::ErrorKind;

use crate::function::{CHUNKS, FAILURE, MESSAGE, content};
use crate::report::Report;
use crate::rie::Rie;
use crate::{ANSWER_MAX, within_time};
use presized_support::rie::FUNCTION;

#[tokio::test]
async fn an_echo_is_the_same_byte_for_byte() {
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
async fn an_answer_over_the_limit_is_refused_and_the_next_is_not() {
    let Some(rie) = Rie::start(60) else { return };
    within_time(async {
        let largest = rie.invoke(format!("answer {ANSWER_MAX}")).await;
        assert!(largest == content(ANSWER_MAX));

        let refused = rie.invoke(format!("answer {}", ANSWER_MAX + 1)).await;
        let message =
            "Response payload size exceeded maximum allowed payload size (6291556 bytes).";
        let report = Report::new("Function.ResponseSizeTooLarge", message);
        assert_eq!(Report::of(&refused), report);
        rie.log_with("answer too large: RequestEntityTooLarge (status 413)").await;

        assert_eq!(rie.invoke("after").await, "after");
    })
    .await;
}

#[tokio::test]
async fn errors_and_panics_are_reported_and_the_process_goes_on() {
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
async fn the_function_is_started_again_after_a_timeout() {
    let Some(rie) = Rie::start(5) else { return };
    within_time(async {
        assert_eq!(rie.invoke("hang").await, "Task timed out after 5.00 seconds");
        assert_eq!(rie.invoke("after").await, "after");
    })
    .await;
}

// It has no stream for callers: it collects one, and does not look at the trailers.
#[tokio::test]
async fn a_stream_is_collected() {
    let Some(rie) = Rie::start(60) else { return };
    within_time(async {
        for command in ["stream", "broken", "stream"] {
            assert_eq!(rie.invoke(command).await, CHUNKS.concat(), "{command}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_second_answer_is_refused_and_the_next_is_not() {
    let Some(rie) = Rie::start(60) else { return };
    within_time(async {
        assert_eq!(rie.invoke("twice").await, "first");
        rie.log_with("answer rejected: InvalidStateTransition (status 403)").await;
        assert_eq!(rie.invoke("after").await, "after");
    })
    .await;
}

#[tokio::test]
async fn a_name_that_it_does_not_know_is_refused() {
    let Some(rie) = Rie::start(60) else { return };
    within_time(async {
        let error = rie.client().invoke("other").send().await.unwrap_err();
        let ErrorKind::Service(error) = error.into_kind() else { panic!("no error of the server") };
        assert_eq!(error.status, 404);
        assert_eq!(rie.client().invoke(FUNCTION).send().await.unwrap().payload, "");
    })
    .await;
}
