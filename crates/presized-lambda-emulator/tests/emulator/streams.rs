use std::future::poll_fn;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::Stream;
use http::{HeaderMap, HeaderValue};
use presized_lambda_emulator::Function;
use presized_lambda_invoke::{Client, Error, ErrorKind, ResponseStream};
use tokio::join;

use super::runtime::{TestRuntime, frames, within};
use super::{NAME, PATIENCE, client, emulator, failure};

async fn chunk(stream: &mut ResponseStream) -> Option<Result<Bytes, Error>> {
    within(poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx))).await
}

/// Calls the function, and reads the first chunk of its response.
async fn start_stream(client: &Client) -> ResponseStream {
    let mut stream = client.invoke_streaming(NAME).send().await.unwrap();
    assert_eq!(chunk(&mut stream).await.unwrap().unwrap(), "first");
    stream
}

fn trailers() -> HeaderMap {
    let mut trailers = HeaderMap::new();
    for (name, value) in [
        ("lambda-runtime-function-error-type", "Function.Broken"),
        // {"errorMessage":"x"}
        ("lambda-runtime-function-error-body", "eyJlcnJvck1lc3NhZ2UiOiJ4In0="),
    ] {
        trailers.insert(name, HeaderValue::from_static(value));
    }
    trailers
}

/// Returns the code and the details of the error that ends a stream.
fn broken(error: Error) -> (String, Option<String>) {
    match error.into_kind() {
        ErrorKind::Function(error) => (error.code, error.details),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_chunk_is_forwarded_before_the_next_one_is_written() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let (sender, body) = frames();
    let calling = async {
        let mut stream = client.invoke_streaming(NAME).tail_log().send().await.unwrap();
        assert_eq!(stream.executed_version(), Some("$LATEST"));
        for text in ["a", "bc", "\0\0\0\0\0\0\0\0"] {
            sender.data(text).await;
            assert_eq!(chunk(&mut stream).await.unwrap().unwrap(), text);
        }
        drop(sender);
        assert!(chunk(&mut stream).await.is_none());
        stream.completion().cloned()
    };
    let (completion, reply) = join!(calling, async {
        let event = runtime.next().await;
        runtime.stream(&event.id, body).await.unwrap()
    });
    assert_eq!(reply.status, 202);
    let log = completion.unwrap().log_tail.unwrap();
    assert!(log.starts_with(b"START RequestId: "), "{log:?}");
    assert_eq!(emulator.stats(NAME).unwrap().responses, 1);
}

/// The function fails after its first chunk.
#[tokio::test]
async fn error_in_the_trailers_fails_a_streamed_response() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let breaks = async |runtime: &mut TestRuntime| {
        let event = runtime.next().await;
        let (sender, body) = frames();
        let writing = async move {
            sender.data("first").await;
            sender.trailers(trailers()).await;
        };
        join!(runtime.stream(&event.id, body), writing).0.unwrap()
    };
    let calling = async {
        let mut stream = start_stream(&client).await;
        chunk(&mut stream).await.unwrap().unwrap_err()
    };
    let (error, reply) = join!(calling, breaks(&mut runtime));
    assert_eq!(reply.status, 202);
    let details = r#"{"errorMessage":"x"}"#.to_owned();
    assert_eq!(broken(error), ("Function.Broken".to_owned(), Some(details)));

    // A buffered caller gets the same error.
    let (response, reply) = join!(client.invoke(NAME).send(), breaks(&mut runtime));
    assert_eq!(reply.status, 202);
    assert_eq!(failure(response.unwrap()).payload, r#"{"errorMessage":"x"}"#);
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.responses, stats.errors), (0, 2));
}

#[tokio::test]
async fn streamed_response_without_an_end_is_a_function_error() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let cut = async || {
        let mut runtime = TestRuntime::connect(&emulator, NAME).await;
        let event = runtime.next().await;
        let (sender, body) = frames();
        let writing = async move {
            sender.data("first").await;
            sender.cut().await;
        };
        join!(runtime.stream(&event.id, body), writing).0.unwrap_err();
    };
    let calling = async {
        let stream = client.invoke_streaming(NAME).send().await.unwrap();
        stream.collect(1 << 20).await.unwrap_err()
    };
    let (error, ()) = join!(calling, cut());
    assert_eq!(broken(error).0, "Runtime.TruncatedResponse");
    let (response, ()) = join!(client.invoke(NAME).send(), cut());
    let failure = failure(response.unwrap());
    assert_eq!(failure.error_type.as_deref(), Some("Runtime.TruncatedResponse"));
    assert_eq!(emulator.stats(NAME).unwrap().errors, 2);
}

#[tokio::test]
async fn buffered_caller_gets_a_streamed_response_in_one_piece() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let (sender, body) = frames();
    let writing = async move {
        for text in ["{}", "\0\0\0\0\0\0\0\0", "body"] {
            sender.data(text).await;
        }
    };
    let running = async {
        let event = runtime.next().await;
        join!(runtime.stream(&event.id, body), writing).0.unwrap()
    };
    let (response, reply) = join!(client.invoke(NAME).send(), running);
    assert_eq!((response.unwrap().payload, reply.status), ("{}\0\0\0\0\0\0\0\0body".into(), 202));
}

#[tokio::test]
async fn streaming_caller_gets_a_buffered_response_as_chunks() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let sent: Bytes = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
    let calling = async { client.invoke_streaming(NAME).send().await?.collect(1 << 30).await };
    let (response, _) = join!(calling, async {
        let event = runtime.next().await;
        runtime.respond(&event.id, sent.clone()).await
    });
    assert!(response.unwrap().payload == sent);
}

#[tokio::test]
async fn timeout_ends_a_streamed_response() {
    let emulator = emulator(Function::new().timeout(std::time::Duration::from_secs(1))).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let (sender, body) = frames();
    let calling = async {
        let mut stream = start_stream(&client).await;
        chunk(&mut stream).await.unwrap().unwrap_err()
    };
    let running = async {
        let event = runtime.next().await;
        // The response has no other chunk and no end.
        join!(runtime.stream(&event.id, body), sender.data("first")).0.unwrap()
    };
    let (error, reply) = join!(calling, running);
    assert_eq!(broken(error).0, "Sandbox.Timedout");
    assert_eq!(reply.refusal(), (410, "InvokeTimeout".to_owned()));
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.timeouts, stats.errors, stats.responses), (1, 0, 0));
}

/// A connected caller that reads nothing blocks its runtime only until the timeout.
#[tokio::test]
async fn timeout_ends_a_streamed_response_whose_caller_does_not_read() {
    let emulator = emulator(Function::new().timeout(std::time::Duration::from_secs(1))).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let (sender, body) = frames();
    let calling = start_stream(&client);
    let writing = async {
        sender.data("first").await;
        // More bytes than the socket buffers hold.
        sender.fill(64 << 10).await;
    };
    let running = async {
        let event = runtime.next().await;
        runtime.stream(&event.id, body).await.unwrap()
    };
    let (mut stream, (), reply) = join!(calling, writing, running);
    assert_eq!(reply.refusal(), (410, "InvokeTimeout".to_owned()));
    let error = loop {
        if let Err(error) = chunk(&mut stream).await.unwrap() {
            break error;
        }
    };
    assert_eq!(broken(error).0, "Sandbox.Timedout");
}

#[tokio::test]
async fn function_completes_its_stream_after_its_caller_disconnects() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let (sender, body) = frames();
    let leaving = async { drop(start_stream(&client).await) };
    let writing = async {
        sender.data("first").await;
        leaving.await;
        for _ in 0..64 {
            sender.data(vec![0; 64 << 10]).await;
        }
        drop(sender);
    };
    let running = async {
        let event = runtime.next().await;
        runtime.stream(&event.id, body).await.unwrap()
    };
    let ((), reply) = join!(writing, running);
    assert_eq!(reply.status, 202);
    assert_eq!(emulator.stats(NAME).unwrap().responses, 1);
}
