use bytes::Bytes;
use presized_lambda_emulator::Function;
use presized_lambda_invoke::{ErrorKind, InvocationType};
use tokio::join;

use super::runtime::{TestRuntime, frames};
use super::{NAME, PATIENCE, client, emulator, failure};

const RESPONSE_MAX: usize = 6_291_556;

fn zeros(size: usize) -> Bytes {
    vec![0; size].into()
}

/// Status 413 of one response must not affect the next one.
#[tokio::test]
async fn response_over_the_limit_is_refused_and_the_next_one_is_accepted() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    for _ in 0..2 {
        let (response, reply) = join!(client.invoke(NAME).send(), async {
            let event = runtime.next().await;
            runtime.respond(&event.id, zeros(RESPONSE_MAX)).await
        });
        assert_eq!((response.unwrap().payload.len(), reply.status), (RESPONSE_MAX, 202));

        let (response, reply) = join!(client.invoke(NAME).send(), async {
            let event = runtime.next().await;
            runtime.respond(&event.id, zeros(RESPONSE_MAX + 1)).await
        });
        assert_eq!(reply.refusal(), (413, "RequestEntityTooLarge".to_owned()));
        let failure = failure(response.unwrap());
        assert_eq!(failure.error_type.as_deref(), Some("Function.ResponseSizeTooLarge"));
        assert_eq!(
            failure.error_message.as_deref(),
            Some("Response payload size exceeded maximum allowed payload size (6291556 bytes).")
        );
    }
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.started, stats.responses, stats.errors, stats.rejected), (4, 2, 2, 2));
}

#[tokio::test]
async fn buffered_limit_applies_to_a_streamed_response_only_for_a_buffered_caller() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let streams = async |runtime: &mut TestRuntime| {
        let event = runtime.next().await;
        let (sender, body) = frames();
        let writing = async move {
            for size in [RESPONSE_MAX, 1] {
                sender.data(zeros(size)).await;
            }
        };
        join!(runtime.stream(&event.id, body), writing).0.unwrap()
    };
    let call = async { client.invoke_streaming(NAME).send().await?.collect(1 << 30).await };
    let (response, reply) = join!(call, streams(&mut runtime));
    assert_eq!((response.unwrap().payload.len(), reply.status), (RESPONSE_MAX + 1, 202));

    let (response, reply) = join!(client.invoke(NAME).send(), streams(&mut runtime));
    assert_eq!(reply.refusal(), (413, "RequestEntityTooLarge".to_owned()));
    let failure = failure(response.unwrap());
    assert_eq!(failure.error_type.as_deref(), Some("Function.ResponseSizeTooLarge"));
}

#[tokio::test]
async fn payload_over_the_limit_is_refused_before_it_is_queued() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    for (invocation_type, limit, name) in [
        (InvocationType::RequestResponse, 6 << 20, "RequestResponse"),
        (InvocationType::Event, 1 << 20, "Event"),
    ] {
        let call = client.invoke(NAME).invocation_type(invocation_type).payload(zeros(limit + 1));
        let error = call.send().await.unwrap_err();
        assert!(!error.may_have_run(), "{error:?}");
        let ErrorKind::Service(error) = error.into_kind() else { panic!("not a service error") };
        assert_eq!(error.status.as_u16(), 413);
        assert_eq!(error.code.as_deref(), Some("RequestEntityTooLargeException"));
        let message = format!(
            "{} byte payload is too large for the {name} invocation type (limit {limit} bytes)",
            limit + 1
        );
        assert_eq!(error.message, Some(message));
    }
    assert_eq!(emulator.stats(NAME).unwrap().invoked, 0);

    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let (response, event) = join!(client.invoke(NAME).payload(zeros(6 << 20)).send(), async {
        let event = runtime.next().await;
        runtime.respond(&event.id, "").await;
        event
    });
    assert!(response.unwrap().function_error.is_none());
    assert_eq!(event.payload.len(), 6 << 20);
}
