//! Streamed responses.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderValue, StatusCode};
use presized_lambda_runtime::{ErrorReport, HttpPrelude, Outcome};
use presized_support::scripted::{Recorded, Reply, Scripted};

use super::{
    GET_NEXT, POST_ERROR, POST_RESPONSE, accepted, client, event, in_time, next, refusal, seen,
};

type Chunk = Result<Bytes, ErrorReport>;

fn chunks(data: &'static [&'static str]) -> impl futures_util::Stream<Item = Chunk> + Send {
    stream::iter(data.iter().map(|data| Ok(Bytes::from_static(data.as_bytes()))))
}

fn wire(request: &Recorded) -> String {
    String::from_utf8_lossy(&request.wire).into_owned()
}

#[tokio::test]
async fn stream_is_sent_in_chunks_and_ended() {
    let server = Scripted::in_turn([event("1"), accepted(), event("2")]);
    let client = client(&server);
    // An empty chunk must not end it.
    let outcome = next(&client).await.respond_streaming(chunks(&["a", "", "bc"])).await.unwrap();
    assert_eq!(outcome, Outcome::Accepted);
    let request = &server.requests()[1];
    assert_eq!(wire(request), "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n");
    assert_eq!(request.header("transfer-encoding"), Some("chunked"));
    assert_eq!(request.header("content-length"), None);
    assert_eq!(request.header("content-type"), Some("application/octet-stream"));
    assert_eq!(request.header("lambda-runtime-function-response-mode"), Some("streaming"));
    let announced: Vec<_> = request
        .head
        .lines()
        .filter_map(|line| line.strip_prefix("trailer: "))
        .flat_map(|names| names.split(", "))
        .collect();
    assert_eq!(
        announced,
        ["lambda-runtime-function-error-type", "lambda-runtime-function-error-body"]
    );
    // Over a new connection: a server that accepts early may close this one afterwards.
    assert_eq!(next(&client).await.event, "2");
    assert_eq!(server.requests()[2].connection, 1);
}

/// Case: a stream fails after its first chunk.
#[tokio::test]
async fn stream_that_fails_ends_in_error_trailers() {
    let failing = chunks(&["a"]).chain(stream::iter([
        Err(ErrorReport::new("Broken", "m")),
        Ok(Bytes::from_static(b"never sent")),
    ]));
    let server = Scripted::in_turn([event("1"), accepted(), event("2")]);
    let client = client(&server);
    assert!(next(&client).await.respond_streaming(failing).await.unwrap().is_accepted());
    let body = STANDARD.encode(r#"{"errorType":"Broken","errorMessage":"m","stackTrace":[]}"#);
    assert_eq!(
        wire(&server.requests()[1]),
        format!(
            "1\r\na\r\n0\r\n\
             lambda-runtime-function-error-type: Function.Broken\r\n\
             lambda-runtime-function-error-body: {body}\r\n\r\n"
        )
    );
    assert_eq!(next(&client).await.event, "2");
}

#[tokio::test]
async fn any_error_and_a_panic_end_a_stream_in_trailers() {
    let error = stream::iter([Err(io::Error::other("disk"))]);
    let panic = stream::once(async { panic!("oh") }).map(|()| Ok::<_, ErrorReport>(Bytes::new()));
    let server = Scripted::start(|_, request| match request.head.split(' ').next() {
        Some("GET") => event("x"),
        _ => accepted(),
    });
    let client = client(&server);
    assert!(next(&client).await.respond_streaming(error).await.unwrap().is_accepted());
    assert!(next(&client).await.respond_streaming(panic).await.unwrap().is_accepted());
    let requests = server.requests();
    let table = [(1, "Function.Error", "disk"), (3, "Function.Panic", "oh")];
    for (number, error_type, message) in table {
        let request = &requests[number];
        assert_eq!(request.trailer("lambda-runtime-function-error-type"), Some(error_type));
        let body = request.trailer("lambda-runtime-function-error-body").unwrap();
        let body: serde_json::Value =
            serde_json::from_slice(&STANDARD.decode(body).unwrap()).unwrap();
        assert_eq!(body["errorMessage"], message);
    }
}

#[tokio::test]
async fn http_response_begins_with_its_prelude() {
    let mut prelude = HttpPrelude::new(StatusCode::CREATED);
    prelude.headers.insert("x-a", HeaderValue::from_static("b"));
    let written = "{\"statusCode\":201,\"headers\":{\"x-a\":\"b\"},\"cookies\":[]}\0\0\0\0\0\0\0\0";
    let len = written.len();
    let table = [
        (&["body"][..], format!("{len:X}\r\n{written}\r\n4\r\nbody\r\n0\r\n\r\n")),
        (&[], format!("{len:X}\r\n{written}\r\n0\r\n\r\n")),
    ];
    for (body, expected) in table {
        let server = Scripted::in_turn([event("1"), accepted()]);
        let invocation = next(&client(&server)).await;
        let outcome = invocation.respond_http_streaming(prelude.clone(), chunks(body)).await;
        assert!(outcome.unwrap().is_accepted());
        let request = &server.requests()[1];
        assert_eq!(wire(request), expected);
        assert_eq!(
            request.header("content-type"),
            Some("application/vnd.awslambda.http-integration-response")
        );
    }
}

/// Case: an invalid header must not end the loop.
#[tokio::test]
async fn invalid_prelude_fails_its_invocation() {
    let mut prelude = HttpPrelude::default();
    prelude.headers.insert("x-a", HeaderValue::from_bytes(b"\xe9").unwrap());
    let server = Scripted::in_turn([event("1"), accepted(), event("2")]);
    let client = client(&server);
    let invocation = next(&client).await;
    let outcome = invocation.respond_http_streaming(prelude, chunks(&["body"])).await;
    assert!(outcome.unwrap().is_accepted());
    assert_eq!(next(&client).await.event, "2");
    assert_eq!(seen(&server), [GET_NEXT, POST_ERROR, GET_NEXT]);
    assert_eq!(
        server.requests()[1].header("lambda-runtime-function-error-type"),
        Some("Runtime.InvalidHttpPrelude")
    );
}

#[tokio::test]
async fn refused_stream_is_not_sent_again() {
    let table = [
        (refusal("413 Request Entity Too Large", "RequestEntityTooLarge"), "response too large"),
        (refusal("410 Gone", "InvokeTimeout"), "response too late"),
        (refusal("403 Forbidden", "InvalidStateTransition"), "response rejected"),
        (refusal("500 Internal Server Error", "X"), "the Runtime API returned an error"),
        (Reply::Close(Bytes::new()), "connection to the Runtime API broke"),
    ];
    for (reply, expected) in table {
        let server = Scripted::in_turn([event("1"), reply, event("2")]);
        let client = client(&server);
        let outcome = in_time(next(&client).await.respond_streaming(chunks(&["a"]))).await;
        let text = match outcome {
            Ok(outcome) => outcome.to_string(),
            Err(error) => error.to_string(),
        };
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(next(&client).await.event, "2");
        assert_eq!(seen(&server), [GET_NEXT, POST_RESPONSE, GET_NEXT]);
    }
}

/// The server must not take a response that was dropped for complete.
#[tokio::test]
async fn stream_that_is_dropped_is_not_ended() {
    struct SetOnDrop(Arc<AtomicBool>);

    impl Drop for SetOnDrop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    let server = Scripted::in_turn([event("1"), event("2")]);
    let client = client(&server);
    let gone = Arc::new(AtomicBool::new(false));
    let guard = SetOnDrop(Arc::clone(&gone));
    let endless = chunks(&["a"]).chain(stream::pending()).map(move |chunk| {
        let _ = &guard;
        chunk
    });
    let invocation = next(&client).await;
    tokio::select! {
        biased;
        _ = invocation.respond_streaming(endless) => panic!("it has no end"),
        () = async { for _ in 0..100 { tokio::task::yield_now().await } } => {}
    }
    assert!(gone.load(Ordering::SeqCst));
    assert_eq!(next(&client).await.event, "2");
    // The server records only requests that were complete.
    assert_eq!(seen(&server), [GET_NEXT, GET_NEXT]);
}
