use std::time::Duration;

use presized_lambda_emulator::Function;
use tokio::join;

use super::runtime::{TestRuntime, within};
use super::{NAME, PATIENCE, client, emulator, failure};

const ONE_SECOND: Duration = Duration::from_secs(1);

fn refused(status: u16, error_type: &str) -> (u16, String) {
    (status, error_type.to_owned())
}

#[tokio::test]
async fn second_response_to_an_invocation_is_refused() {
    for (function, again, by_error) in [
        (Function::new(), refused(403, "InvalidStateTransition"), true),
        (Function::new(), refused(403, "InvalidStateTransition"), false),
        (Function::new().concurrency(4), refused(400, "InvalidRequestID"), false),
    ] {
        let emulator = emulator(function).await;
        let client = client(&emulator);
        let mut runtime = TestRuntime::connect(&emulator, NAME).await;
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
        let response = call.await.unwrap().unwrap();
        assert_eq!(response.payload, if by_error { "{}" } else { "one" });

        // After the next poll, the invocation is unknown.
        let call = tokio::spawn(client.invoke(NAME).send());
        let next = runtime.next().await;
        let late = runtime.respond(&event.id, "three").await;
        assert_eq!(late.refusal(), refused(400, "InvalidRequestID"));
        assert_eq!(runtime.respond(&next.id, "next").await.status, 202);
        assert_eq!(call.await.unwrap().unwrap().payload, "next");
        assert_eq!(emulator.stats(NAME).unwrap().rejected, 3);
    }
}

/// The runtime disconnects with one event, and no runtime polls for the other.
#[tokio::test]
async fn call_queued_behind_a_lost_runtime_times_out() {
    let function = Function::new().timeout(ONE_SECOND).init_timeout(ONE_SECOND / 4);
    let emulator = emulator(function).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
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

/// Between its response and its next poll, a runtime has no event and no open poll.
#[tokio::test]
async fn init_timeout_starts_again_when_a_runtime_responds() {
    let emulator = emulator(Function::new().timeout(PATIENCE).init_timeout(ONE_SECOND * 3)).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let calls = ["a", "b"].map(|event| tokio::spawn(client.invoke(NAME).payload(event).send()));
    let event = runtime.next().await;
    tokio::time::sleep(ONE_SECOND * 5 / 2).await;
    assert_eq!(runtime.respond(&event.id, event.payload).await.status, 202);
    // The other call has waited for longer than the init timeout.
    tokio::time::sleep(ONE_SECOND).await;
    let event = runtime.next().await;
    assert_eq!(runtime.respond(&event.id, event.payload).await.status, 202);
    for (call, event) in calls.into_iter().zip(["a", "b"]) {
        assert_eq!(call.await.unwrap().unwrap().payload, event);
    }
}

#[tokio::test]
async fn response_to_an_unknown_invocation_is_refused() {
    let emulator = emulator(Function::new()).await;
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    for id in ["unknown", "%00", "00000000-0000-4000-8000-000000000000"] {
        assert_eq!(runtime.respond(id, "x").await.refusal(), refused(400, "InvalidRequestID"));
        assert_eq!(runtime.fail(id, "{}").await.refusal(), refused(400, "InvalidRequestID"));
    }
}

#[tokio::test]
async fn classic_runtime_cannot_poll_before_it_responds() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
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
async fn unknown_response_mode_fails_the_invocation() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let (response, reply) = join!(client.invoke(NAME).send(), async {
        let event = runtime.next().await;
        let mode = [("lambda-runtime-function-response-mode", "Streaming")];
        runtime.post(&format!("invocation/{}/response", event.id), &mode, "x").await
    });
    assert_eq!(reply.refusal(), refused(400, "InvalidFunctionResponseMode"));
    let failure = failure(response.unwrap());
    assert_eq!(failure.error_type.as_deref(), Some("Runtime.InvalidResponseModeHeader"));
}

#[tokio::test]
async fn init_and_restore_requests_are_refused_after_the_first_poll() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    assert_eq!(runtime.get("restore/next").await.status, 200);
    assert_eq!(runtime.post("restore/error", &[], "{}").await.status, 202);
    let call = async {
        // Until the poll, calls fail with the reported error.
        loop {
            let response = client.invoke(NAME).send().await.unwrap();
            if response.function_error.is_none() {
                return response;
            }
        }
    };
    let (response, ()) = join!(call, async {
        let event = runtime.next().await;
        runtime.respond(&event.id, "x").await;
    });
    assert_eq!(response.payload, "x");
    for path in ["init/error", "restore/error"] {
        let late = runtime.post(path, &[], "{}").await;
        assert_eq!(late.refusal(), refused(403, "InvalidStateTransition"));
    }
    let late = runtime.get("restore/next").await;
    assert_eq!(late.refusal(), refused(403, "InvalidStateTransition"));
    assert_eq!(runtime.get("invocation").await.status, 404);
}

#[tokio::test]
async fn event_is_not_lost_with_the_connection_that_polled_for_it() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    TestRuntime::connect(&emulator, NAME).await.poll_and_go().await;
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let (response, ()) = join!(client.invoke(NAME).send(), async {
        let event = runtime.next().await;
        runtime.respond(&event.id, "x").await;
    });
    assert_eq!(response.unwrap().payload, "x");
    assert_eq!(emulator.stats(NAME).unwrap().started, 1);
}
