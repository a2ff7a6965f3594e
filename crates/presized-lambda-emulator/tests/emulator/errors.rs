use std::time::Duration;

use presized_lambda_emulator::Function;
use presized_lambda_invoke::{ErrorKind, FunctionErrorKind};
use tokio::join;

use super::runtime::Runtime;
use super::{NAME, client, emulator, failure};

#[tokio::test]
async fn what_a_runtime_reports_is_what_the_caller_gets() {
    const REPORT: &str =
        r#"{"errorType":"Function.Odd","errorMessage":"odd","stackTrace":["at f"]}"#;
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let (answer, reply) = join!(client.invoke(NAME).send(), async {
        let event = runtime.next().await;
        runtime.fail(&event.id, REPORT).await
    });
    assert_eq!(reply.status, 202);
    let failure = failure(answer.unwrap());
    assert_eq!(failure.kind, FunctionErrorKind::Unhandled);
    assert_eq!(failure.payload, REPORT);
    assert_eq!(failure.error_message.as_deref(), Some("odd"));
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.started, stats.responses, stats.errors), (1, 0, 1));
}

#[tokio::test]
async fn a_caller_who_streams_hears_of_an_error_at_the_end() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
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
    let ErrorKind::Function(error) = error.into_kind() else { panic!("a function error") };
    assert_eq!(error.code, "Function.Odd");
    assert_eq!(error.details.as_deref(), Some(r#"{"errorMessage":"odd"}"#));
    assert!(error.log_tail.is_some());
}

#[tokio::test]
async fn an_answer_that_is_late_is_refused_and_the_next_one_is_not() {
    for function in [Function::new(), Function::new().concurrency(1)] {
        let emulator = emulator(function.timeout(Duration::from_millis(500))).await;
        let client = client(&emulator);
        let mut runtime = Runtime::connect(&emulator, NAME).await;
        let (answer, event) = join!(client.invoke(NAME).tail_log().send(), runtime.next());
        let answer = answer.unwrap();
        let log = answer.log_text().unwrap().into_owned();
        let failure = failure(answer);
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
        let (answer, ()) = join!(client.invoke(NAME).send(), async {
            let event = runtime.next().await;
            runtime.respond(&event.id, "in time").await;
        });
        assert_eq!(answer.unwrap().payload, "in time");
        let stats = emulator.stats(NAME).unwrap();
        assert_eq!((stats.invoked, stats.started), (2, 2));
        assert_eq!((stats.responses, stats.timeouts, stats.rejected), (1, 1, 3));
    }
}

#[tokio::test]
async fn a_start_that_fails_fails_the_calls_that_wait_and_those_that_come() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let report = r#"{"errorType":"Runtime.NoSuchHandler","errorMessage":"no"}"#;
    let first = tokio::spawn(client.invoke(NAME).send());
    while emulator.stats(NAME).unwrap().invoked == 0 {
        super::runtime::pause().await;
    }
    assert_eq!(runtime.post("init/error", &[], report).await.status, 202);
    assert_eq!(failure(first.await.unwrap().unwrap()).payload, report);
    assert_eq!(failure(client.invoke(NAME).send().await.unwrap()).payload, report);
    // Another attempt.
    let (answer, ()) = join!(
        async {
            while emulator.stats(NAME).unwrap().started == 0 {
                super::runtime::pause().await;
                let answer = client.invoke(NAME).send().await.unwrap();
                if answer.function_error.is_none() {
                    return answer;
                }
            }
            panic!("an answer")
        },
        async {
            let event = runtime.next().await;
            runtime.respond(&event.id, "well").await;
        }
    );
    assert_eq!(answer.payload, "well");
}
