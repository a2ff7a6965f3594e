//! Functions on the runtime of presized, called by aws-sdk-lambda.

use aws_sdk_lambda::Client;
use aws_sdk_lambda::operation::invoke::InvokeOutput;
use aws_sdk_lambda::primitives::Blob;
use aws_sdk_lambda::types::InvokeWithResponseStreamResponseEvent::{InvokeComplete, PayloadChunk};
use aws_sdk_lambda::types::{InvocationType, InvokeWithResponseStreamCompleteEvent, LogType};
use bytes::Bytes;
use futures_util::stream;
use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_runtime::{Context, ErrorReport, FunctionResponse, raw};

use crate::{PATIENCE, sdk_of, within_time};

#[tokio::test]
async fn an_echo_is_the_same_byte_for_byte() {
    let (emulator, client) = start().await;
    within_time(async {
        for length in [0, 1, 2047, 2048, 2049, 60_000, 6_000_000] {
            let sent: Vec<u8> = (0..length).map(|position| (position % 251) as u8).collect();
            let response = invoke(&client, sent.clone()).await;
            assert_eq!((response.status_code, response.function_error()), (200, None));
            assert_eq!(response.executed_version(), Some("$LATEST"));
            let received = response.payload.map(Blob::into_inner).unwrap_or_default();
            // The event of a call without a payload is an empty object.
            let expected = if sent.is_empty() { b"{}".to_vec() } else { sent };
            assert!(received == expected, "{length} bytes");
        }
    })
    .await;
    assert_eq!(emulator.stats(NAME).unwrap().responses, 7);
}

#[tokio::test]
async fn an_event_is_queued_and_a_dry_run_is_not_executed() {
    let (emulator, client) = start().await;
    within_time(async {
        for (kind, status) in [(InvocationType::Event, 202), (InvocationType::DryRun, 204)] {
            let call = client.invoke().function_name(NAME).payload(Blob::new("1"));
            let response = call.invocation_type(kind).send().await.unwrap();
            assert_eq!(response.status_code, status);
        }
        // The queued event runs first, because there is one runtime.
        assert_eq!(invoke(&client, "last").await.payload.unwrap().as_ref(), b"last");
    })
    .await;
    assert_eq!(emulator.stats(NAME).unwrap().responses, 2);
}

#[tokio::test]
async fn failed_call_has_an_error_report_and_the_log() {
    let (_emulator, client) = start().await;
    within_time(async {
        let call = client.invoke().function_name(NAME).payload(Blob::new("fail"));
        let response = call.log_type(LogType::Tail).send().await.unwrap();
        assert_eq!((response.status_code, response.function_error()), (200, Some("Unhandled")));
        assert!(response.log_result().is_some());
        assert_is_report(response.payload.unwrap().as_ref());
    })
    .await;
}

#[tokio::test]
async fn stream_ends_with_a_complete_event() {
    let (emulator, client) = start().await;
    within_time(async {
        let (content, end) = stream_of(&client, "stream").await;
        assert_eq!(content, b"applepear");
        assert_eq!(end.error_code(), None);
        assert!(end.log_result().is_some());

        let (content, end) = stream_of(&client, "answer").await;
        assert!(content == vec![b'x'; LARGE]);
        assert_eq!(end.error_code(), None);

        let (content, end) = stream_of(&client, "broken").await;
        assert_eq!(content, b"apple");
        assert_eq!(end.error_code(), Some("Function.NoFruit"));
        assert_is_report(end.error_details().unwrap().as_bytes());
    })
    .await;
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.responses, stats.errors), (2, 1));
}

#[tokio::test]
async fn refused_calls_have_the_error_types_of_the_sdk() {
    let (_emulator, client) = start().await;
    within_time(async {
        let refused = client.invoke().function_name("nobody").send().await.unwrap_err();
        assert!(refused.into_service_error().is_resource_not_found_exception());

        let large = Blob::new(vec![0; (6 << 20) + 1]);
        let call = client.invoke().function_name(NAME).payload(large).send().await;
        let refused = call.unwrap_err();
        assert_eq!(refused.raw_response().unwrap().status().as_u16(), 413);
        // The SDK has no type for this error.
        let error = refused.into_service_error();
        assert_eq!(error.meta().code(), Some("RequestEntityTooLargeException"));
    })
    .await;
}

#[tokio::test]
async fn throttled_call_is_retried() {
    let (emulator, client) = start().await;
    emulator.throttle(NAME, 1).unwrap();
    within_time(async {
        assert_eq!(invoke(&client, "1").await.payload.unwrap().as_ref(), b"1");
    })
    .await;
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.throttled, stats.started), (1, 1));
}

async fn start() -> (Emulator, Client) {
    let function = Function::new().timeout(PATIENCE);
    let emulator = Emulator::builder().function(NAME, function).start().await.unwrap();
    emulator.attach(NAME, raw(function_of_event)).unwrap();
    let client = sdk_of(&emulator);
    (emulator, client)
}

async fn invoke(client: &Client, payload: impl Into<Vec<u8>>) -> InvokeOutput {
    client.invoke().function_name(NAME).payload(Blob::new(payload)).send().await.unwrap()
}

/// Returns all chunks of the response, and the event after them.
async fn stream_of(
    client: &Client,
    payload: &str,
) -> (Vec<u8>, InvokeWithResponseStreamCompleteEvent) {
    let call = client.invoke_with_response_stream().function_name(NAME);
    let call = call.payload(Blob::new(payload)).log_type(LogType::Tail);
    let mut events = call.send().await.unwrap().event_stream;
    let mut content = Vec::new();
    loop {
        match events.recv().await.unwrap().unwrap() {
            PayloadChunk(chunk) => content.extend(chunk.payload.unwrap().into_inner()),
            InvokeComplete(end) => {
                assert!(events.recv().await.unwrap().is_none());
                return (content, end);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[track_caller]
fn assert_is_report(payload: &[u8]) {
    let report: serde_json::Value = serde_json::from_slice(payload).unwrap();
    assert_eq!(report["errorType"], "Function.NoFruit");
    assert_eq!(report["errorMessage"], "no such fruit");
}

/// Does what the event says.
async fn function_of_event(
    event: Bytes,
    _context: Context,
) -> Result<FunctionResponse, ErrorReport> {
    let failure = || ErrorReport::new("Function.NoFruit", "no such fruit");
    match &event[..] {
        b"answer" => Ok("x".repeat(LARGE).into()),
        b"fail" => Err(failure()),
        b"stream" => {
            Ok(FunctionResponse::stream(stream::iter(["apple", "pear"].map(Ok::<_, ErrorReport>))))
        }
        b"broken" => Ok(FunctionResponse::stream(stream::iter([Ok("apple"), Err(failure())]))),
        _ => Ok(event.into()),
    }
}

const NAME: &str = "fruit";

/// More than one frame of the stream can hold, in bytes.
const LARGE: usize = 6_000_000;
