//! A Runtime API, and streams of the function, that do what they should not.

use std::cell::Cell;
use std::fmt;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, future, stream};
use http::HeaderValue;
use presized_lambda_runtime::{ErrorReport, HttpPrelude};
use presized_support::chunked;
use presized_support::scripted::{Recorded, Reply, Scripted};

use super::{GET_NEXT, POST_ERROR, POST_RESPONSE, accepted, client, event, in_time, next, seen};

/// RFC 9112, section 9.2: what is not asked for is no response to what is asked next.
#[tokio::test]
async fn what_comes_behind_a_response_is_no_response_to_the_next_request() {
    let surplus =
        ["HTTP/1.1 413 Request Entity Too Large\r\nContent-Length: 0\r\n\r\n", "x", "\r\n"];
    for surplus in surplus {
        let Reply::Keep(response) = event("1") else { unreachable!("a response") };
        let response = [&response[..], surplus.as_bytes()].concat();
        let server = Scripted::in_turn([Reply::Keep(response.into()), accepted(), event("2")]);
        let client = client(&server);
        let answered = in_time(next(&client).await.respond("answer")).await.unwrap();
        assert!(answered.is_accepted(), "{surplus:?}: {answered:?}");
        assert_eq!(next(&client).await.event, "2", "{surplus:?}");
        assert_eq!(seen(&server), [GET_NEXT, POST_RESPONSE, GET_NEXT], "{surplus:?}");
    }
}

/// RFC 9110, section 15.2: any number of them, and none is the response.
#[tokio::test]
async fn a_response_may_have_others_before_it() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n";
    let after = |reply: Reply| {
        let Reply::Keep(response) = reply else { unreachable!("a response") };
        Reply::Keep([interim.as_bytes(), &response].concat().into())
    };
    let server = Scripted::in_turn([after(event("1")), after(accepted()), after(event("2"))]);
    let client = client(&server);
    assert!(in_time(next(&client).await.respond("")).await.unwrap().is_accepted());
    assert_eq!(next(&client).await.event, "2");
}

/// No request can be about it: its path would be another's, or no path at all. That one
/// invocation cannot be answered is no reason to stop.
#[tokio::test(start_paused = true)]
async fn an_id_that_is_no_part_of_a_path_is_none() {
    let long = "a".repeat(70_000);
    for id in [".", "..", "a b", "a?b", "a#b", "a%2fb", &long] {
        let headers = [("Lambda-Runtime-Aws-Request-Id", id)];
        let server = Scripted::in_turn([Reply::response("200 OK", &headers, ""), event("2")]);
        let invocation = client(&server).next().await.unwrap();
        assert_eq!(invocation.event, "2", "{:.9}", id);
        assert_eq!(seen(&server), [GET_NEXT, GET_NEXT], "{:.9}", id);
    }
}

/// Sent as a stream that fails with this.
async fn failed(report: ErrorReport) -> Recorded {
    let server = Scripted::in_turn([event("1"), accepted()]);
    let failing = stream::iter([Ok(Bytes::from_static(b"a")), Err(report)]);
    let answered = in_time(next(&client(&server)).await.respond_streaming(failing)).await;
    assert!(answered.unwrap().is_accepted());
    server.requests().swap_remove(1)
}

/// The server that Lambda runs is that of Go, which takes 4,096 bytes of trailers, with the line
/// that ends them, and else none of the answer.
#[tokio::test]
async fn a_stream_fails_with_a_report_that_is_short_enough_to_be_read() {
    let trace: Vec<_> = (0..1_000).map(|frame| format!("{frame}: a::frame")).collect();
    let long = "\u{e9}\"\0".repeat(1 << 20);
    let reports = [
        ErrorReport::new("Late", "said"),
        ErrorReport::new("Late", "said").with_stack_trace(trace.clone()),
        ErrorReport::new("Late", &*long),
        ErrorReport::new("Late", &*long).with_stack_trace(trace),
        ErrorReport::new("Late".repeat(10_000), "said"),
        ErrorReport::new("\0".repeat(10_000), &*long).with_stack_trace([&*long, "b"]),
    ];
    for report in reports {
        let request = failed(report.clone()).await;
        let trailers = chunked::split(&request.wire).unwrap().trailers.len();
        assert!(trailers <= 4096, "{trailers} bytes");
        assert!(request.trailer("lambda-runtime-function-error-type").is_some());
        let body = request.trailer("lambda-runtime-function-error-body").unwrap();
        let body: serde_json::Value =
            serde_json::from_slice(&STANDARD.decode(body).unwrap()).unwrap();
        for (member, of) in
            [("errorType", &report.error_type), ("errorMessage", &report.error_message)]
        {
            let told = body[member].as_str().unwrap();
            let kept = told.trim_end_matches('\u{2026}');
            assert!(!kept.is_empty() && of.starts_with(kept), "{told}");
            assert!(of.len() > 100 || told == of, "{told}");
        }
        let frames: Vec<_> =
            body["stackTrace"].as_array().unwrap().iter().filter_map(|f| f.as_str()).collect();
        assert!(report.stack_trace.iter().zip(&frames).all(|(of, told)| of == told));
        assert!(
            report.stack_trace.len() < 1_000 || report.error_message != "said" || frames.len() > 50
        );
    }
}

/// A piece without content sends nothing, so that nothing would make the stream wait.
#[tokio::test]
async fn a_stream_of_empty_pieces_lets_others_go_on() {
    const PIECES: usize = 10_000;
    let server = Scripted::in_turn([event("1"), accepted()]);
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let empty = stream::iter(0..PIECES).map(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok::<_, ErrorReport>(Bytes::new())
    });
    let invocation = next(&client(&server)).await;
    let turns = Rc::new(Cell::new(0));
    let beside = future::poll_fn(|cx| {
        if (1..PIECES).contains(&asked.load(Ordering::SeqCst)) {
            turns.set(turns.get() + 1);
        }
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    });
    let answering = pin!(invocation.respond_streaming(empty));
    match in_time(future::select(answering, pin!(beside))).await {
        future::Either::Left((answered, _)) => assert!(answered.unwrap().is_accepted()),
        future::Either::Right(_) => unreachable!("it has no end"),
    }
    assert_eq!(asked.load(Ordering::SeqCst), PIECES);
    assert!(turns.get() > 0);
}

/// Panics when it is dropped.
struct Grenade(&'static str);

impl Drop for Grenade {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("{}", self.0);
        }
    }
}

/// Panics when it is told.
#[derive(Debug)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("no words")
    }
}

impl std::error::Error for Unspeakable {}

fn holding<S: Stream>(stream: S, held: Grenade) -> impl Stream<Item = S::Item> {
    stream.map(move |piece| {
        let _ = &held;
        piece
    })
}

fn message(request: &Recorded) -> String {
    let body = request.trailer("lambda-runtime-function-error-body").unwrap();
    let body: serde_json::Value = serde_json::from_slice(&STANDARD.decode(body).unwrap()).unwrap();
    body["errorMessage"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_panic_of_a_stream_wherever_it_is_ends_the_answer_and_nothing_else() {
    type Pieces = std::pin::Pin<Box<dyn Stream<Item = Result<Bytes, Unspeakable>> + Send>>;
    let piece = || stream::iter([Ok(Bytes::from_static(b"a"))]);
    let thrown = || stream::once(async { std::panic::panic_any(Grenade("payload")) });
    let table: [(Pieces, &str); 4] = [
        (piece().chain(stream::iter([Err(Unspeakable)])).boxed(), "no words"),
        (holding(piece(), Grenade("at its end")).boxed(), "at its end"),
        (piece().chain(thrown()).boxed(), "the panic has no message"),
        (holding(thrown(), Grenade("and at its end")).boxed(), "the panic has no message"),
    ];
    for (pieces, expected) in table {
        let server = Scripted::in_turn([event("1"), accepted(), event("2")]);
        let client = client(&server);
        let invocation = next(&client).await;
        let answered = in_time(tokio::spawn(invocation.respond_streaming(pieces))).await;
        assert!(answered.expect(expected).unwrap().is_accepted());
        assert_eq!(message(&server.requests()[1]), expected);
        assert_eq!(next(&client).await.event, "2");
    }
}

/// Where nobody asks a stream to its end, or at all, a panic of its end has nobody to tell.
#[tokio::test]
async fn a_panic_of_a_stream_that_is_not_sent_ends_nothing() {
    let endless = || {
        let pieces =
            stream::repeat_with(|| Ok::<_, ErrorReport>(Bytes::from_static(&[b'a'; 4096])));
        holding(pieces, Grenade("unsent"))
    };
    // The server goes away in the middle of it.
    let server = Scripted::in_turn([event("1")]);
    let invocation = next(&client(&server)).await;
    drop(server);
    let answered = in_time(tokio::spawn(invocation.respond_streaming(endless()))).await;
    assert!(answered.expect("no panic").is_err());

    let mut prelude = HttpPrelude::default();
    prelude.headers.insert("x-a", HeaderValue::from_bytes(b"\xe9").unwrap());
    let server = Scripted::in_turn([event("1"), accepted()]);
    let invocation = next(&client(&server)).await;
    let answering = invocation.respond_http_streaming(prelude, endless());
    let answered = in_time(tokio::spawn(answering)).await;
    assert!(answered.expect("no panic").unwrap().is_accepted());
    assert_eq!(seen(&server), [GET_NEXT, POST_ERROR]);
}
