use std::time::Duration;

use presized_lambda_emulator::Function;
use presized_lambda_invoke::{ErrorKind, FunctionErrorKind};
use tokio::join;

use super::runtime::TestRuntime;
use super::{NAME, client, emulator, failure};

#[tokio::test]
async fn caller_gets_the_error_report_of_the_runtime_unchanged() {
    const REPORT: &str =
        r#"{"errorType":"Function.Odd","errorMessage":"odd","stackTrace":["at f"]}"#;
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let (response, reply) = join!(client.invoke(NAME).send(), async {
        let event = runtime.next().await;
        runtime.fail(&event.id, REPORT).await
    });
    assert_eq!(reply.status, 202);
    let failure = failure(response.unwrap());
    assert_eq!(failure.kind, FunctionErrorKind::Unhandled);
    assert_eq!(failure.payload, REPORT);
    assert_eq!(failure.error_message.as_deref(), Some("odd"));
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.started, stats.responses, stats.errors), (1, 0, 1));
}

#[tokio::test]
async fn error_report_ends_a_response_stream() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let call = async {
        let stream = client.invoke_streaming(NAME).tail_log().send().await.unwrap();
        stream.collect(1 << 20).await.unwrap_err()
    };
    let (error, _) = join!(call, async {
        let event = runtime.next().await;
        let header = [("lambda-runtime-function-error-type", "Function.Odd")];
        let path = format!("invocation/{}/error", event.id);
        runtime.post(&path, &header, r#"{"errorMessage":"odd"}"#).await
    });
    let ErrorKind::Function(error) = error.into_kind() else { panic!("not a function error") };
    assert_eq!(error.code, "Function.Odd");
    assert_eq!(error.details.as_deref(), Some(r#"{"errorMessage":"odd"}"#));
    assert!(error.log_tail.is_some());
}

/// It is the longest header of a runtime. The connection would end, and the next poll be refused.
#[tokio::test]
async fn cause_of_an_error_has_up_to_1_mib() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    for length in [200_000, (1 << 20) - 1] {
        let (response, reply) = join!(client.invoke(NAME).send(), async {
            let event = runtime.next().await;
            let cause = [("lambda-runtime-function-xray-error-cause", "x".repeat(length))];
            let cause = cause.each_ref().map(|(name, value)| (*name, value.as_str()));
            runtime.post(&format!("invocation/{}/error", event.id), &cause, "{}").await
        });
        assert_eq!(reply.status, 202, "{length} bytes");
        assert_eq!(failure(response.unwrap()).payload, "{}");
    }
}

#[tokio::test]
async fn late_response_is_refused_and_the_next_one_is_accepted() {
    for function in [Function::new(), Function::new().concurrency(1)] {
        let emulator = emulator(function.timeout(Duration::from_millis(500))).await;
        let client = client(&emulator);
        let mut runtime = TestRuntime::connect(&emulator, NAME).await;
        let (response, event) = join!(client.invoke(NAME).tail_log().send(), runtime.next());
        let response = response.unwrap();
        let log = response.log_text().unwrap().into_owned();
        let failure = failure(response);
        assert_eq!(failure.error_type.as_deref(), Some("Sandbox.Timedout"));
        let message = format!("RequestId: {} Error: Task timed out after 0.50 seconds", event.id);
        assert_eq!(failure.error_message.as_deref(), Some(message.as_str()));
        assert!(log.contains("REPORT RequestId: "), "{log}");
        for _ in 0..2 {
            let late = runtime.respond(&event.id, "late").await;
            assert_eq!(late.refusal(), (410, "InvokeTimeout".to_owned()));
        }
        let late = runtime.fail(&event.id, "{}").await;
        assert_eq!(late.refusal(), (410, "InvokeTimeout".to_owned()));
        let (response, ()) = join!(client.invoke(NAME).send(), async {
            let event = runtime.next().await;
            runtime.respond(&event.id, "in time").await;
        });
        assert_eq!(response.unwrap().payload, "in time");
        let stats = emulator.stats(NAME).unwrap();
        assert_eq!((stats.invoked, stats.started), (2, 2));
        assert_eq!((stats.responses, stats.timeouts, stats.rejected), (1, 1, 3));
    }
}

#[tokio::test]
async fn init_error_fails_queued_and_later_calls_until_the_next_poll() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let report = r#"{"errorType":"Runtime.NoSuchHandler","errorMessage":"no"}"#;
    let first = tokio::spawn(client.invoke(NAME).send());
    while emulator.stats(NAME).unwrap().invoked == 0 {
        super::runtime::pause().await;
    }
    assert_eq!(runtime.post("init/error", &[], report).await.status, 202);
    assert_eq!(failure(first.await.unwrap().unwrap()).payload, report);
    assert_eq!(failure(client.invoke(NAME).send().await.unwrap()).payload, report);
    // The next poll starts the runtime again.
    let (response, ()) = join!(
        async {
            while emulator.stats(NAME).unwrap().started == 0 {
                super::runtime::pause().await;
                let response = client.invoke(NAME).send().await.unwrap();
                if response.function_error.is_none() {
                    return response;
                }
            }
            panic!("no response")
        },
        async {
            let event = runtime.next().await;
            runtime.respond(&event.id, "well").await;
        }
    );
    assert_eq!(response.payload, "well");
}
