//! A Runtime API that breaks HTTP, and streams that panic or never end.

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
use presized_lambda_runtime::wire::TRAILERS_MAX;
use presized_lambda_runtime::{ErrorReport, HttpPrelude};
use presized_support::chunked;
use presized_support::scripted::{Recorded, Reply, Scripted};

use super::{GET_NEXT, POST_ERROR, POST_RESPONSE, accepted, client, event, in_time, next, seen};

/// RFC 9112, section 9.2: bytes after a response do not belong to the next request.
#[tokio::test]
async fn bytes_after_a_response_are_not_the_response_to_the_next_request() {
    let surplus =
        ["HTTP/1.1 413 Request Entity Too Large\r\nContent-Length: 0\r\n\r\n", "x", "\r\n"];
    for surplus in surplus {
        let Reply::Keep(response) = event("1") else { unreachable!("a response") };
        let response = [&response[..], surplus.as_bytes()].concat();
        let server = Scripted::in_turn([Reply::Keep(response.into()), accepted(), event("2")]);
        let client = client(&server);
        let outcome = in_time(next(&client).await.respond("response")).await.unwrap();
        assert!(outcome.is_accepted(), "{surplus:?}: {outcome:?}");
        assert_eq!(next(&client).await.event, "2", "{surplus:?}");
        assert_eq!(seen(&server), [GET_NEXT, POST_RESPONSE, GET_NEXT], "{surplus:?}");
    }
}

/// RFC 9110, section 15.2: a server may send any number of interim responses.
#[tokio::test]
async fn interim_responses_are_skipped() {
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

/// The path of a response with such an id would be another path or no path. One invocation without
/// a valid id does not end the process.
#[tokio::test(start_paused = true)]
async fn request_id_that_is_no_path_segment_is_ignored() {
    let long = "a".repeat(70_000);
    for id in [".", "..", "a b", "a?b", "a#b", "a%2fb", &long] {
        let headers = [("Lambda-Runtime-Aws-Request-Id", id)];
        let server = Scripted::in_turn([Reply::response("200 OK", &headers, ""), event("2")]);
        let invocation = client(&server).next().await.unwrap();
        assert_eq!(invocation.event, "2", "{:.9}", id);
        assert_eq!(seen(&server), [GET_NEXT, GET_NEXT], "{:.9}", id);
    }
}

/// Sends a stream that fails with `report`, and returns the recorded request.
async fn failed(report: ErrorReport) -> Recorded {
    let server = Scripted::in_turn([event("1"), accepted()]);
    let failing = stream::iter([Ok(Bytes::from_static(b"a")), Err(report)]);
    let outcome = in_time(next(&client(&server)).await.respond_streaming(failing)).await;
    assert!(outcome.unwrap().is_accepted());
    server.requests().swap_remove(1)
}

/// The server of Lambda reads at most `TRAILERS_MAX` bytes of trailers. It drops a response with
/// more.
#[tokio::test]
async fn report_in_trailers_is_cut_to_the_limit_of_the_server() {
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
        assert!(trailers <= TRAILERS_MAX, "{trailers} bytes");
        assert!(request.trailer("lambda-runtime-function-error-type").is_some());
        let body = request.trailer("lambda-runtime-function-error-body").unwrap();
        let body: serde_json::Value =
            serde_json::from_slice(&STANDARD.decode(body).unwrap()).unwrap();
        for (member, of) in
            [("errorType", &report.error_type), ("errorMessage", &report.error_message)]
        {
            let sent = body[member].as_str().unwrap();
            let kept = sent.trim_end_matches('\u{2026}');
            assert!(!kept.is_empty() && of.starts_with(kept), "{sent}");
            assert!(of.len() > 100 || sent == of, "{sent}");
        }
        let frames: Vec<_> =
            body["stackTrace"].as_array().unwrap().iter().filter_map(|f| f.as_str()).collect();
        assert!(report.stack_trace.iter().zip(&frames).all(|(of, sent)| of == sent));
        assert!(
            report.stack_trace.len() < 1_000 || report.error_message != "said" || frames.len() > 50
        );
    }
}

/// An empty chunk writes nothing, so that no write makes the stream wait.
#[tokio::test]
async fn stream_of_empty_chunks_lets_other_tasks_run() {
    const CHUNKS: usize = 10_000;
    let server = Scripted::in_turn([event("1"), accepted()]);
    let polls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&polls);
    let empty = stream::iter(0..CHUNKS).map(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok::<_, ErrorReport>(Bytes::new())
    });
    let invocation = next(&client(&server)).await;
    let turns = Rc::new(Cell::new(0));
    let beside = future::poll_fn(|cx| {
        if (1..CHUNKS).contains(&polls.load(Ordering::SeqCst)) {
            turns.set(turns.get() + 1);
        }
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    });
    let responding = pin!(invocation.respond_streaming(empty));
    match in_time(future::select(responding, pin!(beside))).await {
        future::Either::Left((outcome, _)) => assert!(outcome.unwrap().is_accepted()),
        future::Either::Right(_) => unreachable!("it has no end"),
    }
    assert_eq!(polls.load(Ordering::SeqCst), CHUNKS);
    assert!(turns.get() > 0);
}

/// Panics when it is dropped, unless that would abort.
struct PanicOnDrop(&'static str);

impl Drop for PanicOnDrop {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("{}", self.0);
        }
    }
}

/// An error that panics when it is displayed.
#[derive(Debug)]
struct PanickingError;

impl fmt::Display for PanickingError {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("in display")
    }
}

impl std::error::Error for PanickingError {}

fn holding<S: Stream>(stream: S, held: PanicOnDrop) -> impl Stream<Item = S::Item> {
    stream.map(move |chunk| {
        let _ = &held;
        chunk
    })
}

fn message(request: &Recorded) -> String {
    let body = request.trailer("lambda-runtime-function-error-body").unwrap();
    let body: serde_json::Value = serde_json::from_slice(&STANDARD.decode(body).unwrap()).unwrap();
    body["errorMessage"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn panic_of_a_stream_ends_the_response_and_nothing_else() {
    type Chunks = std::pin::Pin<Box<dyn Stream<Item = Result<Bytes, PanickingError>> + Send>>;
    let chunk = || stream::iter([Ok(Bytes::from_static(b"a"))]);
    let thrown = || stream::once(async { std::panic::panic_any(PanicOnDrop("payload")) });
    let table: [(Chunks, &str); 4] = [
        (chunk().chain(stream::iter([Err(PanickingError)])).boxed(), "in display"),
        (holding(chunk(), PanicOnDrop("in drop")).boxed(), "in drop"),
        (chunk().chain(thrown()).boxed(), "panic without a message"),
        (holding(thrown(), PanicOnDrop("in drop too")).boxed(), "panic without a message"),
    ];
    for (chunks, expected) in table {
        let server = Scripted::in_turn([event("1"), accepted(), event("2")]);
        let client = client(&server);
        let invocation = next(&client).await;
        let outcome = in_time(tokio::spawn(invocation.respond_streaming(chunks))).await;
        assert!(outcome.expect(expected).unwrap().is_accepted());
        assert_eq!(message(&server.requests()[1]), expected);
        assert_eq!(next(&client).await.event, "2");
    }
}

/// A stream that is dropped before its end may panic then.
#[tokio::test]
async fn panic_of_a_stream_that_is_not_sent_is_caught() {
    let endless = || {
        let chunks =
            stream::repeat_with(|| Ok::<_, ErrorReport>(Bytes::from_static(&[b'a'; 4096])));
        holding(chunks, PanicOnDrop("unsent"))
    };
    // The server ends in the middle of the stream.
    let server = Scripted::in_turn([event("1")]);
    let invocation = next(&client(&server)).await;
    drop(server);
    let outcome = in_time(tokio::spawn(invocation.respond_streaming(endless()))).await;
    assert!(outcome.expect("no panic").is_err());

    let mut prelude = HttpPrelude::default();
    prelude.headers.insert("x-a", HeaderValue::from_bytes(b"\xe9").unwrap());
    let server = Scripted::in_turn([event("1"), accepted()]);
    let invocation = next(&client(&server)).await;
    let responding = invocation.respond_http_streaming(prelude, endless());
    let outcome = in_time(tokio::spawn(responding)).await;
    assert!(outcome.expect("no panic").unwrap().is_accepted());
    assert_eq!(seen(&server), [GET_NEXT, POST_ERROR]);
}
