//! Answers that come piece by piece.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderValue, StatusCode};
use presized_lambda_runtime::{Answered, ErrorReport, HttpPrelude};
use presized_support::scripted::{Recorded, Reply, Scripted};

use super::{
    GET_NEXT, POST_ERROR, POST_RESPONSE, accepted, client, event, in_time, next, refusal, seen,
};

type Piece = Result<Bytes, ErrorReport>;

fn pieces(data: &'static [&'static str]) -> impl futures_util::Stream<Item = Piece> + Send {
    stream::iter(data.iter().map(|data| Ok(Bytes::from_static(data.as_bytes()))))
}

fn wire(request: &Recorded) -> String {
    String::from_utf8_lossy(&request.wire).into_owned()
}

#[tokio::test]
async fn a_stream_is_sent_in_chunks_and_ends_cleanly() {
    let server = Scripted::in_turn([event("1"), accepted(), event("2")]);
    let client = client(&server);
    // An empty piece must not end it.
    let answered = next(&client).await.respond_streaming(pieces(&["a", "", "bc"])).await.unwrap();
    assert_eq!(answered, Answered::Accepted);
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
    // Over a fresh connection: a server that accepts early may close this one afterwards.
    assert_eq!(next(&client).await.event, "2");
    assert_eq!(server.requests()[2].connection, 1);
}

/// Case: a failure in mid-stream.
#[tokio::test]
async fn a_stream_that_fails_ends_in_its_error() {
    let failing = pieces(&["a"]).chain(stream::iter([
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
async fn any_error_and_a_panic_end_a_stream_alike() {
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
async fn an_answer_in_the_form_of_http_begins_with_its_prelude() {
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
        let answered = invocation.respond_http_streaming(prelude.clone(), pieces(body)).await;
        assert!(answered.unwrap().is_accepted());
        let request = &server.requests()[1];
        assert_eq!(wire(request), expected);
        assert_eq!(
            request.header("content-type"),
            Some("application/vnd.awslambda.http-integration-response")
        );
    }
}

/// Case: one bad header must not end the loop.
#[tokio::test]
async fn a_prelude_that_cannot_be_written_is_that_invocations_error() {
    let mut prelude = HttpPrelude::default();
    prelude.headers.insert("x-a", HeaderValue::from_bytes(b"\xe9").unwrap());
    let server = Scripted::in_turn([event("1"), accepted(), event("2")]);
    let client = client(&server);
    let invocation = next(&client).await;
    let answered = invocation.respond_http_streaming(prelude, pieces(&["body"])).await;
    assert!(answered.unwrap().is_accepted());
    assert_eq!(next(&client).await.event, "2");
    assert_eq!(seen(&server), [GET_NEXT, POST_ERROR, GET_NEXT]);
    assert_eq!(
        server.requests()[1].header("lambda-runtime-function-error-type"),
        Some("Runtime.InvalidHttpPrelude")
    );
}

#[tokio::test]
async fn a_stream_is_refused_as_any_answer_and_not_sent_again() {
    let table = [
        (refusal("413 Request Entity Too Large", "RequestEntityTooLarge"), "answer too large"),
        (refusal("410 Gone", "InvokeTimeout"), "answer too late"),
        (refusal("403 Forbidden", "InvalidStateTransition"), "answer rejected"),
        (refusal("500 Internal Server Error", "X"), "Runtime API failed"),
        (Reply::Close(Bytes::new()), "Runtime API broke off"),
    ];
    for (reply, expected) in table {
        let server = Scripted::in_turn([event("1"), reply, event("2")]);
        let client = client(&server);
        let answered = in_time(next(&client).await.respond_streaming(pieces(&["a"]))).await;
        let text = match answered {
            Ok(answered) => answered.to_string(),
            Err(error) => error.to_string(),
        };
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(next(&client).await.event, "2");
        assert_eq!(seen(&server), [GET_NEXT, POST_RESPONSE, GET_NEXT]);
    }
}

/// Dropping the answer breaks it off: the server must not take it for whole.
#[tokio::test]
async fn a_stream_that_is_given_up_does_not_end_cleanly() {
    struct Gone(Arc<AtomicBool>);

    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    let server = Scripted::in_turn([event("1"), event("2")]);
    let client = client(&server);
    let gone = Arc::new(AtomicBool::new(false));
    let guard = Gone(Arc::clone(&gone));
    let endless = pieces(&["a"]).chain(stream::pending()).map(move |piece| {
        let _ = &guard;
        piece
    });
    let invocation = next(&client).await;
    tokio::select! {
        biased;
        _ = invocation.respond_streaming(endless) => panic!("it has no end"),
        () = async { for _ in 0..100 { tokio::task::yield_now().await } } => {}
    }
    assert!(gone.load(Ordering::SeqCst));
    assert_eq!(next(&client).await.event, "2");
    // What is recorded are requests that were read to their end.
    assert_eq!(seen(&server), [GET_NEXT, GET_NEXT]);
}
