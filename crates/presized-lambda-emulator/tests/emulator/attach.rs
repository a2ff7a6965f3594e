use std::io;

use bytes::Bytes;
use futures_util::stream;
use presized_lambda_emulator::Function;
use presized_lambda_invoke::ErrorKind;
use presized_lambda_runtime::{Context, raw, streaming};
use tokio::task::JoinSet;

use super::{NAME, PATIENCE, client, emulator, failure};

async fn shout(event: Bytes, _: Context) -> io::Result<Bytes> {
    match &event[..] {
        b"fail" => Err(io::Error::other("requested")),
        b"panic" => panic!("requested"),
        _ => Ok(event.to_ascii_uppercase().into()),
    }
}

#[tokio::test]
async fn handler_that_fails_or_panics_fails_only_its_own_call() {
    for function in [Function::new(), Function::new().concurrency(4)] {
        let emulator = emulator(function.timeout(PATIENCE)).await;
        emulator.attach(NAME, raw(shout)).unwrap();
        let client = client(&emulator);
        let mut calls = JoinSet::new();
        for (payload, message) in
            [("a", None), ("fail", Some("requested")), ("panic", Some("requested")), ("b", None)]
        {
            let call = client.invoke(NAME).payload(payload).send();
            calls.spawn(async move {
                let response = call.await.unwrap();
                match message {
                    None => assert_eq!(response.payload, payload.to_ascii_uppercase()),
                    Some(message) => {
                        let found = failure(response).error_message.unwrap();
                        assert!(found.contains(message), "{found}");
                    }
                }
            });
        }
        while let Some(call) = calls.join_next().await {
            call.unwrap();
        }
        let stats = emulator.stats(NAME).unwrap();
        assert_eq!((stats.started, stats.responses, stats.errors), (4, 2, 2));
    }
}

#[tokio::test]
async fn streamed_response_is_complete_or_ends_in_the_error_of_the_handler() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let handler = streaming(|event: Bytes, _: Context| async move {
        let last = if event == "break" { Err(io::Error::other("requested")) } else { Ok("b") };
        Ok::<_, io::Error>(stream::iter([Ok("a"), last]))
    });
    emulator.attach(NAME, handler).unwrap();
    let client = client(&emulator);
    let stream = client.invoke_streaming(NAME).send().await.unwrap();
    assert_eq!(stream.collect(16).await.unwrap().payload, "ab");
    let stream = client.invoke_streaming(NAME).payload("break").send().await.unwrap();
    let error = stream.collect(16).await.unwrap_err();
    let ErrorKind::Function(error) = error.into_kind() else { panic!("a function error") };
    assert!(error.details.unwrap().contains("requested"));
    assert_eq!(
        failure(client.invoke(NAME).payload("break").send().await.unwrap())
            .error_message
            .as_deref(),
        Some("requested")
    );
}

#[tokio::test]
async fn second_runtime_of_a_function_is_refused() {
    let emulator = emulator(Function::new()).await;
    emulator.attach(NAME, raw(shout)).unwrap();
    let again = emulator.attach(NAME, raw(shout)).unwrap_err();
    assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    let other = emulator.attach("other", raw(shout)).unwrap_err();
    assert_eq!(other.kind(), io::ErrorKind::NotFound);
}
