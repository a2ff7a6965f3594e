use std::future::poll_fn;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::Stream;
use http::{HeaderMap, HeaderValue};
use presized_lambda_emulator::Function;
use presized_lambda_invoke::{Error, ErrorKind, ResponseStream};
use tokio::join;

use super::runtime::{Runtime, frames, within};
use super::{NAME, PATIENCE, client, emulator, failure};

async fn chunk(stream: &mut ResponseStream) -> Option<Result<Bytes, Error>> {
    within(poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx))).await
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

/// What a stream ends with that is not whole.
fn broken(error: Error) -> (String, Option<String>) {
    match error.into_kind() {
        ErrorKind::Function(error) => (error.code, error.details),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_chunk_is_handed_on_before_the_next_is_written() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
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

/// Case: failure in mid-stream.
#[tokio::test]
async fn a_stream_that_breaks_says_so_in_its_trailers() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let breaks = async |runtime: &mut Runtime| {
        let event = runtime.next().await;
        let (sender, body) = frames();
        let writing = async move {
            sender.data("begun").await;
            sender.trailers(trailers()).await;
        };
        join!(runtime.stream(&event.id, body), writing).0.unwrap()
    };
    let calling = async {
        let mut stream = client.invoke_streaming(NAME).send().await.unwrap();
        assert_eq!(chunk(&mut stream).await.unwrap().unwrap(), "begun");
        chunk(&mut stream).await.unwrap().unwrap_err()
    };
    let (error, reply) = join!(calling, breaks(&mut runtime));
    assert_eq!(reply.status, 202);
    let details = r#"{"errorMessage":"x"}"#.to_owned();
    assert_eq!(broken(error), ("Function.Broken".to_owned(), Some(details)));

    // And to a caller who waits for the whole of it.
    let (answer, reply) = join!(client.invoke(NAME).send(), breaks(&mut runtime));
    assert_eq!(reply.status, 202);
    assert_eq!(failure(answer.unwrap()).payload, r#"{"errorMessage":"x"}"#);
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.responses, stats.errors), (0, 2));
}

#[tokio::test]
async fn a_stream_that_is_cut_is_no_answer() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let cut = async || {
        let mut runtime = Runtime::connect(&emulator, NAME).await;
        let event = runtime.next().await;
        let (sender, body) = frames();
        let writing = async move {
            sender.data("begun").await;
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
    let (answer, ()) = join!(client.invoke(NAME).send(), cut());
    let failure = failure(answer.unwrap());
    assert_eq!(failure.error_type.as_deref(), Some("Runtime.TruncatedResponse"));
    assert_eq!(emulator.stats(NAME).unwrap().errors, 2);
}

#[tokio::test]
async fn a_stream_that_is_whole_is_an_answer_for_whoever_wants_it_whole() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
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
    let (answer, reply) = join!(client.invoke(NAME).send(), running);
    assert_eq!((answer.unwrap().payload, reply.status), ("{}\0\0\0\0\0\0\0\0body".into(), 202));
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_comes_as_a_stream_to_whoever_wants_one() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let sent: Bytes = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
    let calling = async { client.invoke_streaming(NAME).send().await?.collect(1 << 30).await };
    let (answer, _) = join!(calling, async {
        let event = runtime.next().await;
        runtime.respond(&event.id, sent.clone()).await
    });
    assert!(answer.unwrap().payload == sent);
}

#[tokio::test]
async fn time_is_over_in_the_middle_of_a_stream_too() {
    let emulator = emulator(Function::new().timeout(std::time::Duration::from_secs(1))).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let (sender, body) = frames();
    let calling = async {
        let mut stream = client.invoke_streaming(NAME).send().await.unwrap();
        assert_eq!(chunk(&mut stream).await.unwrap().unwrap(), "begun");
        chunk(&mut stream).await.unwrap().unwrap_err()
    };
    let running = async {
        let event = runtime.next().await;
        // And nothing after that.
        join!(runtime.stream(&event.id, body), sender.data("begun")).0.unwrap()
    };
    let (error, reply) = join!(calling, running);
    assert_eq!(broken(error).0, "Sandbox.Timedout");
    assert_eq!(reply.refusal(), (410, "InvokeTimeout".to_owned()));
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.timeouts, stats.errors, stats.responses), (1, 0, 0));
}

/// A caller that is there and reads nothing keeps its runtime waiting, but not for longer.
#[tokio::test]
async fn time_is_over_for_a_stream_that_nobody_reads_too() {
    let emulator = emulator(Function::new().timeout(std::time::Duration::from_secs(1))).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let (sender, body) = frames();
    let calling = async {
        let mut stream = client.invoke_streaming(NAME).send().await.unwrap();
        assert_eq!(chunk(&mut stream).await.unwrap().unwrap(), "begun");
        stream
    };
    let writing = async {
        sender.data("begun").await;
        // More than the sockets hold.
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
async fn a_function_goes_on_when_its_caller_goes_away() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let (sender, body) = frames();
    let leaving = async {
        let mut stream = client.invoke_streaming(NAME).send().await.unwrap();
        assert_eq!(chunk(&mut stream).await.unwrap().unwrap(), "begun");
    };
    let writing = async {
        sender.data("begun").await;
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
