use bytes::Bytes;
use presized_lambda_emulator::Function;
use presized_lambda_invoke::{ErrorKind, InvocationType};
use tokio::join;

use super::runtime::{Runtime, frames};
use super::{NAME, PATIENCE, client, emulator, failure};

const ANSWER_MAX: usize = 6_291_556;

fn zeros(size: usize) -> Bytes {
    vec![0; size].into()
}

/// Case: 413 on `/response` is of that answer alone.
#[tokio::test]
async fn an_answer_over_the_limit_is_refused_and_the_next_one_is_not() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    for _ in 0..2 {
        let (answer, reply) = join!(client.invoke(NAME).send(), async {
            let event = runtime.next().await;
            runtime.respond(&event.id, zeros(ANSWER_MAX)).await
        });
        assert_eq!((answer.unwrap().payload.len(), reply.status), (ANSWER_MAX, 202));

        let (answer, reply) = join!(client.invoke(NAME).send(), async {
            let event = runtime.next().await;
            runtime.respond(&event.id, zeros(ANSWER_MAX + 1)).await
        });
        assert_eq!(reply.refusal(), (413, "RequestEntityTooLarge".to_owned()));
        let failure = failure(answer.unwrap());
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
async fn a_streamed_answer_is_not_bound_by_that_unless_its_caller_wants_it_whole() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let streams = async |runtime: &mut Runtime| {
        let event = runtime.next().await;
        let (sender, body) = frames();
        let writing = async move {
            for size in [ANSWER_MAX, 1] {
                sender.data(zeros(size)).await;
            }
        };
        join!(runtime.stream(&event.id, body), writing).0.unwrap()
    };
    let call = async { client.invoke_streaming(NAME).send().await?.collect(1 << 30).await };
    let (answer, reply) = join!(call, streams(&mut runtime));
    assert_eq!((answer.unwrap().payload.len(), reply.status), (ANSWER_MAX + 1, 202));

    let (answer, reply) = join!(client.invoke(NAME).send(), streams(&mut runtime));
    assert_eq!(reply.refusal(), (413, "RequestEntityTooLarge".to_owned()));
    let failure = failure(answer.unwrap());
    assert_eq!(failure.error_type.as_deref(), Some("Function.ResponseSizeTooLarge"));
}

#[tokio::test]
async fn an_event_over_the_limit_is_refused_before_it_is_one() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    for (invocation_type, limit, name) in [
        (InvocationType::RequestResponse, 6 << 20, "RequestResponse"),
        (InvocationType::Event, 1 << 20, "Event"),
    ] {
        let call = client.invoke(NAME).invocation_type(invocation_type).payload(zeros(limit + 1));
        let error = call.send().await.unwrap_err();
        assert!(!error.may_have_run(), "{error:?}");
        let ErrorKind::Service(error) = error.into_kind() else { panic!("a service error") };
        assert_eq!(error.status.as_u16(), 413);
        assert_eq!(error.code.as_deref(), Some("RequestEntityTooLargeException"));
        let message = format!(
            "{} byte payload is too large for the {name} invocation type (limit {limit} bytes)",
            limit + 1
        );
        assert_eq!(error.message, Some(message));
    }
    assert_eq!(emulator.stats(NAME).unwrap().invoked, 0);

    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let (answer, event) = join!(client.invoke(NAME).payload(zeros(6 << 20)).send(), async {
        let event = runtime.next().await;
        runtime.respond(&event.id, "").await;
        event
    });
    assert!(answer.unwrap().function_error.is_none());
    assert_eq!(event.payload.len(), 6 << 20);
}
