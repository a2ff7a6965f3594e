//! Invoke, whose payload is a blob, and InvokeWithResponseStream, whose payload is a stream of events.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_sdk_lambda::config::interceptors::AfterDeserializationInterceptorContextRef;
use aws_sdk_lambda::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_lambda::error::BoxError;
use aws_sdk_lambda::primitives::Blob;
use aws_sdk_lambda::types::InvokeWithResponseStreamResponseEvent::{InvokeComplete, PayloadChunk};
use presized_aws_sdk::Interceptor;
use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_runtime::{Context, ErrorReport, raw};
use presized_support::scripted::{Reply, Scripted};

use crate::clients::lambda;
use crate::{LIMIT, PATIENCE, within_time};

#[tokio::test]
async fn an_echo_is_the_same_byte_for_byte() {
    let emulator = echo().await;
    let client = lambda(address(&emulator), Interceptor::new(LIMIT));
    within_time(async {
        for length in [0, 1, 2047, 2048, 60_000, 6_000_000] {
            let sent: Vec<u8> = (0..length).map(|position| (position % 251) as u8).collect();
            let call = client.invoke().function_name(NAME).payload(Blob::new(sent.clone()));
            let response = call.send().await.unwrap();
            assert_eq!((response.status_code, response.function_error()), (200, None));
            let received = response.payload.map(Blob::into_inner).unwrap_or_default();
            // The event of a call without a payload is an empty object.
            let expected = if sent.is_empty() { b"{}".to_vec() } else { sent };
            assert!(received == expected, "{length} bytes");
        }
    })
    .await;
    assert_eq!(emulator.stats(NAME).unwrap().responses, 6);
}

#[tokio::test]
async fn event_stream_is_unchanged_and_has_no_limit() {
    let emulator = echo().await;
    let client = lambda(address(&emulator), Interceptor::new(0));
    let sent = vec![b'x'; 100_000];
    let mut received = Vec::new();
    within_time(async {
        let call = client.invoke_with_response_stream().function_name(NAME);
        let mut events = call.payload(Blob::new(sent.clone())).send().await.unwrap().event_stream;
        while let Some(event) = events.recv().await.unwrap() {
            match event {
                PayloadChunk(chunk) => received.extend(chunk.payload.unwrap().into_inner()),
                InvokeComplete(end) => assert_eq!(end.error_code(), None),
                other => panic!("{other:?}"),
            }
        }
    })
    .await;
    assert!(received == sent);
}

#[tokio::test]
async fn other_interceptors_see_the_whole_response() {
    let server = Scripted::in_turn([Reply::response("200 OK", &[], "hello")]);
    let seen = Arc::new(AtomicUsize::new(0));
    let client = lambda(server.address(), Interceptor::new(5));
    let call = client.invoke().function_name(NAME).customize();
    let call = call.interceptor(Looks(seen.clone()));
    assert_eq!(call.send().await.unwrap().payload.unwrap().as_ref(), b"hello");
    assert_eq!(seen.load(Ordering::SeqCst), 5);
}

/// Stores the length of the body after the response is parsed.
#[derive(Debug)]
struct Looks(Arc<AtomicUsize>);

impl Intercept for Looks {
    fn name(&self) -> &'static str {
        "Looks"
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let content = context.response().body().bytes().ok_or("the body is not in memory")?;
        self.0.store(content.len(), Ordering::SeqCst);
        Ok(())
    }
}

async fn echo() -> Emulator {
    let function = Function::new().timeout(PATIENCE);
    let emulator = Emulator::builder().function(NAME, function).start().await.unwrap();
    let echo = raw(|event, _: Context| async move { Ok::<_, ErrorReport>(event) });
    emulator.attach(NAME, echo).unwrap();
    emulator
}

fn address(emulator: &Emulator) -> SocketAddr {
    emulator.url().trim_start_matches("http://").parse().unwrap()
}

const NAME: &str = "echo";
