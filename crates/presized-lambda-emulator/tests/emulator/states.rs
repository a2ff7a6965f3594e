use presized_lambda_emulator::Function;
use tokio::join;

const ONE_SECOND: std::time::Duration = std::time::Duration::from_secs(1);

use super::runtime::{Runtime, within};
use super::{NAME, PATIENCE, client, emulator, failure};

fn refused(status: u16, error_type: &str) -> (u16, String) {
    (status, error_type.to_owned())
}

#[tokio::test]
async fn an_invocation_is_answered_once() {
    for (function, again, by_error) in [
        (Function::new(), refused(403, "InvalidStateTransition"), true),
        (Function::new(), refused(403, "InvalidStateTransition"), false),
        (Function::new().concurrency(4), refused(400, "InvalidRequestID"), false),
    ] {
        let emulator = emulator(function).await;
        let client = client(&emulator);
        let mut runtime = Runtime::connect(&emulator, NAME).await;
        let call = tokio::spawn(client.invoke(NAME).send());
        let event = runtime.next().await;
        let first = if by_error {
            runtime.fail(&event.id, "{}").await
        } else {
            runtime.respond(&event.id, "one").await
        };
        assert_eq!(first.status, 202);
        assert_eq!(runtime.respond(&event.id, "two").await.refusal(), again);
        assert_eq!(runtime.fail(&event.id, "{}").await.refusal(), again);
        let answer = call.await.unwrap().unwrap();
        assert_eq!(answer.payload, if by_error { "{}" } else { "one" });

        // With the next event, the one before is forgotten.
        let call = tokio::spawn(client.invoke(NAME).send());
        let next = runtime.next().await;
        let late = runtime.respond(&event.id, "three").await;
        assert_eq!(late.refusal(), refused(400, "InvalidRequestID"));
        assert_eq!(runtime.respond(&next.id, "next").await.status, 202);
        assert_eq!(call.await.unwrap().unwrap().payload, "next");
        assert_eq!(emulator.stats(NAME).unwrap().rejected, 3);
    }
}

/// The runtime leaves with one event, and none comes for the other.
#[tokio::test]
async fn a_call_that_waits_behind_another_has_an_end_too() {
    let function = Function::new().timeout(ONE_SECOND).init_timeout(ONE_SECOND / 4);
    let emulator = emulator(function).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let calls = [(); 2].map(|()| tokio::spawn(client.invoke(NAME).send()));
    runtime.next().await;
    drop(runtime);
    for call in calls {
        let failure = failure(within(call).await.unwrap().unwrap());
        assert_eq!(failure.error_type.as_deref(), Some("Sandbox.Timedout"));
    }
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.invoked, stats.started, stats.timeouts), (2, 1, 2));
}

/// In that moment it neither has an event nor asks for one.
#[tokio::test]
async fn a_call_waits_while_a_runtime_is_between_two_events() {
    let emulator = emulator(Function::new().timeout(PATIENCE).init_timeout(ONE_SECOND * 3)).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let calls = ["a", "b"].map(|event| tokio::spawn(client.invoke(NAME).payload(event).send()));
    let event = runtime.next().await;
    tokio::time::sleep(ONE_SECOND * 5 / 2).await;
    assert_eq!(runtime.respond(&event.id, event.payload).await.status, 202);
    // The other one has waited for three seconds by now.
    tokio::time::sleep(ONE_SECOND).await;
    let event = runtime.next().await;
    assert_eq!(runtime.respond(&event.id, event.payload).await.status, 202);
    for (call, event) in calls.into_iter().zip(["a", "b"]) {
        assert_eq!(call.await.unwrap().unwrap().payload, event);
    }
}

#[tokio::test]
async fn no_other_invocation_can_be_answered() {
    let emulator = emulator(Function::new()).await;
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    for id in ["nobody", "%00", "00000000-0000-4000-8000-000000000000"] {
        assert_eq!(runtime.respond(id, "x").await.refusal(), refused(400, "InvalidRequestID"));
        assert_eq!(runtime.fail(id, "{}").await.refusal(), refused(400, "InvalidRequestID"));
    }
}

#[tokio::test]
async fn a_classic_runtime_answers_before_it_asks_again() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let call = tokio::spawn(client.invoke(NAME).send());
    let event = runtime.next().await;
    let early = runtime.get("invocation/next").await;
    assert_eq!(early.refusal(), refused(403, "InvalidStateTransition"));
    assert_eq!(
        early.body,
        r#"{"errorMessage":"State transition from Running to Ready failed for runtime. Error: State transition is not allowed","errorType":"InvalidStateTransition"}"#
    );
    assert_eq!(runtime.respond(&event.id, "x").await.status, 202);
    assert_eq!(within(call).await.unwrap().unwrap().payload, "x");
}

#[tokio::test]
async fn a_mode_that_is_none_ends_the_invocation() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let (answer, reply) = join!(client.invoke(NAME).send(), async {
        let event = runtime.next().await;
        let mode = [("lambda-runtime-function-response-mode", "Streaming")];
        runtime.post(&format!("invocation/{}/response", event.id), &mode, "x").await
    });
    assert_eq!(reply.refusal(), refused(400, "InvalidFunctionResponseMode"));
    let failure = failure(answer.unwrap());
    assert_eq!(failure.error_type.as_deref(), Some("Runtime.InvalidResponseModeHeader"));
}

#[tokio::test]
async fn a_start_is_over_with_the_first_poll() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    assert_eq!(runtime.get("restore/next").await.status, 200);
    assert_eq!(runtime.post("restore/error", &[], "{}").await.status, 202);
    let call = async {
        // Until the poll, the start has failed.
        loop {
            let answer = client.invoke(NAME).send().await.unwrap();
            if answer.function_error.is_none() {
                return answer;
            }
        }
    };
    let (answer, ()) = join!(call, async {
        let event = runtime.next().await;
        runtime.respond(&event.id, "x").await;
    });
    assert_eq!(answer.payload, "x");
    for path in ["init/error", "restore/error"] {
        let late = runtime.post(path, &[], "{}").await;
        assert_eq!(late.refusal(), refused(403, "InvalidStateTransition"));
    }
    let late = runtime.get("restore/next").await;
    assert_eq!(late.refusal(), refused(403, "InvalidStateTransition"));
    assert_eq!(runtime.get("invocation").await.status, 404);
}

#[tokio::test]
async fn an_event_is_not_lost_with_a_connection_that_has_asked_for_it() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    Runtime::connect(&emulator, NAME).await.poll_and_go().await;
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let (answer, ()) = join!(client.invoke(NAME).send(), async {
        let event = runtime.next().await;
        runtime.respond(&event.id, "x").await;
    });
    assert_eq!(answer.unwrap().payload, "x");
    assert_eq!(emulator.stats(NAME).unwrap().started, 1);
}
