mod collecting;
mod idle;

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use http_body::{Body, Frame};
use presized::{BufferPool, MemoryBudget, Reader};
use presized_support::drive::poll_once;
use presized_support::eventstream::{
    CHUNK, DONE_ERR, DONE_OK, EXCEPTION, chunk, complete, event, frame, unhex,
};
use presized_support::mock::{Mock, MockError, Step};
use tokio::time::Instant;

use super::*;
use crate::recorder::Hook;
use crate::{BoxError, ErrorKind, Outcome};

const TIMEOUT: Duration = Duration::from_secs(60);

fn chunks<B>(body: B) -> Chunks<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    chunks_with(body, None)
}

fn chunks_with<B>(body: B, idle_timeout: Option<Duration>) -> Chunks<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    let head = Head {
        status: StatusCode::OK,
        request_id: Some("r-1".to_owned()),
        executed_version: None,
        attempts: 2,
        other_type: None,
    };
    Chunks::new(head, body, Instant::now() + TIMEOUT, idle_timeout)
}

fn data(bytes: impl Into<Bytes>) -> Step {
    Step::Data(bytes.into())
}

/// Returns the joined chunks of a body and the end of the stream.
async fn read<B>(body: B) -> (Vec<u8>, Result<Completion, Error>)
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    let mut chunks = chunks(body);
    let mut payload = Vec::new();
    let outcome = loop {
        match chunks.next().await {
            Some(Ok(chunk)) => {
                assert!(!chunk.is_empty());
                payload.extend_from_slice(&chunk);
            }
            Some(Err(error)) => break Err(error),
            None => break Ok(chunks.completion.take().expect("a completion")),
        }
    };
    for _ in 0..3 {
        assert!(chunks.next().await.is_none());
    }
    (payload, outcome)
}

/// Returns `ok` or a short description of the error.
fn outcome<T>(outcome: &Result<T, Error>) -> String {
    let Err(error) = outcome else { return "ok".to_owned() };
    assert!(error.may_have_run());
    assert_eq!((error.attempts(), error.request_id()), (2, Some("r-1")));
    match error.kind() {
        ErrorKind::Function(error) => {
            format!("function {} {:?}", error.code, error.details.as_deref().unwrap_or("-"))
        }
        ErrorKind::Service(error) => {
            let message = error.message.as_deref().unwrap_or("-");
            format!("service {} {message:?}", error.code.as_deref().unwrap_or("-"))
        }
        ErrorKind::Broken(source) => format!("broken: {source}"),
        ErrorKind::Timeout { .. } => "timeout".to_owned(),
        ErrorKind::TooLarge(error) => format!("too large: {}", error.received()),
        other => format!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn stream_ends_with_the_result_of_the_function_after_its_chunks() {
    for (last, expected) in [
        (unhex(DONE_OK), "ok"),
        (unhex(DONE_ERR), r#"function Runtime.Broken "x""#),
        (unhex(EXCEPTION), r#"service ServiceException "x""#),
        (complete(""), "ok"),
        (complete(r#"{"ErrorCode":null,"LogResult":null,"New":{"a":[1]}}"#), "ok"),
        (complete(r#"{"ErrorCode":"Function.Crashed"}"#), r#"function Function.Crashed "-""#),
        (complete("{"), "broken: InvokeComplete event is not valid JSON"),
        (complete(r#"{"ErrorCode":7}"#), "broken: InvokeComplete event is not valid JSON"),
        (
            frame(
                &[(":message-type", "error"), (":error-code", "E"), (":error-message", "m")],
                b"",
            ),
            r#"service E "m""#,
        ),
        (frame(&[(":message-type", "exception")], b"<xml>"), r#"service - "-""#),
        (
            frame(&[(":message-type", "exception")], br#"{"message":null,"Message":"M"}"#),
            r#"service - "M""#,
        ),
        (
            frame(&[(":message-type", "exception")], br#"{"Message":"M","message":"m"}"#),
            r#"service - "m""#,
        ),
        (
            frame(&[(":message-type", "new")], b""),
            r#"broken: event stream frame has the unknown message type "new""#,
        ),
        (frame(&[], b""), "broken: event stream frame has no message type"),
        (vec![], "broken: event stream ended without an InvokeComplete event"),
        (unhex(DONE_OK)[..50].to_vec(), "broken: event stream ended within a frame"),
        (unhex(DONE_OK)[..5].to_vec(), "broken: event stream ended within a frame"),
        (vec![0; 12], "broken: event stream prelude has a wrong checksum"),
    ] {
        let whole = [unhex(CHUNK), last].concat();
        let bytes = whole.chunks(1).map(|byte| data(byte.to_vec()));
        let bytes: Vec<_> = bytes.flat_map(|byte| [data(""), byte, Step::Wait]).collect();
        for body in [Mock::of([&whole]), Mock::new(bytes)] {
            let (payload, end) = read(body).await;
            assert_eq!((&payload[..], outcome(&end).as_str()), (&b"abc"[..], expected));
        }
    }
}

#[tokio::test]
async fn log_tail_is_decoded_if_it_is_base64() {
    for (log, expected) in [
        // It begins within a UTF-8 character.
        (r#""hWxvZwo=""#, Some(&b"\x85log\n"[..])),
        (r#""""#, Some(b"")),
        (r#""%""#, None),
        ("null", None),
    ] {
        let last = complete(&format!(r#"{{"LogResult":{log}}}"#));
        let (_, end) = read(Mock::of([last])).await;
        assert_eq!(end.expect(log).log_tail.as_deref(), expected, "{log}");
    }
    let last = complete(r#"{"ErrorCode":"E","LogResult":"bG9n"}"#);
    let (_, end) = read(Mock::of([last])).await;
    let Err(ErrorKind::Function(error)) = end.map_err(Error::into_kind) else { panic!("no error") };
    assert_eq!(error.log_tail.as_deref(), Some(&b"log"[..]));
}

#[tokio::test]
async fn unknown_events_and_trailers_are_ignored() {
    let start = [event("initial-response", "{}"), chunk("a"), event("New", "?"), chunk("")];
    let whole = [start.concat(), chunk("b"), complete("{}")].concat();
    let mut trailers = http::HeaderMap::new();
    trailers.insert("x-new", http::HeaderValue::from_static("1"));
    let (payload, end) = read(Mock::new([data(whole), Step::Trailers(trailers)])).await;
    assert_eq!((&payload[..], outcome(&end).as_str()), (&b"ab"[..], "ok"));
}

#[tokio::test]
async fn failing_connection_is_an_error_unless_the_function_has_ended() {
    let reset = || Step::Fail("reset");
    let (payload, end) = read(Mock::new([data(unhex(CHUNK)), reset()])).await;
    assert_eq!((&payload[..], outcome(&end).as_str()), (&b"abc"[..], "broken: reset"));
    let (payload, end) = read(Mock::new([data(unhex(CHUNK)), data(unhex(DONE_OK)), reset()])).await;
    assert_eq!((&payload[..], outcome(&end).as_str()), (&b"abc"[..], "ok"));
    let (_, end) = read(Mock::new([data(unhex(DONE_ERR)), reset()])).await;
    assert_eq!(outcome(&end), r#"function Runtime.Broken "x""#);
}

#[tokio::test]
async fn nothing_is_read_behind_the_end_of_the_function() {
    let done = unhex(DONE_OK);
    for (steps, expected) in [
        (vec![data([&done[..], b"more"].concat()), data("more")], 1),
        (vec![data(done.clone()), data("more"), data("more")], 2),
        (vec![data(done.clone()), data(""), data(unhex(CHUNK)), data("more")], 3),
        (vec![data(done)], 2),
    ] {
        let polls = Arc::default();
        let (payload, end) = read(Watched::new(steps, &polls)).await;
        assert_eq!((&payload[..], outcome(&end).as_str()), (&b""[..], "ok"));
        assert_eq!(polls.load(Relaxed), expected);
    }
}

#[tokio::test]
async fn events_that_are_there_are_given_out_before_more_is_read() {
    let polls = Arc::default();
    let steps = [data([chunk("a"), chunk("b"), chunk("c")].concat()), data(unhex(DONE_OK))];
    let mut chunks = chunks(Watched::new(steps, &polls));
    for expected in ["a", "b", "c"] {
        assert_eq!(chunks.next().await.expect("a chunk").expect("no error"), expected);
        assert_eq!(polls.load(Relaxed), 1);
    }
    assert!(chunks.next().await.is_none());
    assert_eq!(polls.load(Relaxed), 3);
}

#[tokio::test]
async fn body_is_dropped_with_the_end_of_the_stream() {
    for last in [data(unhex(DONE_OK)), data(unhex(DONE_ERR)), data("no frame at all")] {
        let polls = Arc::default();
        let mut chunks = chunks(Watched::new([last], &polls));
        assert_eq!(Arc::strong_count(&polls), 2);
        while chunks.next().await.is_some() {}
        assert_eq!(Arc::strong_count(&polls), 1);
    }
}

#[tokio::test]
async fn flood_of_ignored_events_yields_to_other_tasks() {
    for nothing in [Bytes::new(), Bytes::from(event("New", "?")), Bytes::from(chunk(""))] {
        let polls = Arc::default();
        let steps = (0..1000).map(|_| data(nothing.clone()));
        let body = Watched::new(steps.chain([data(unhex(DONE_OK))]), &polls);
        let mut chunks = chunks(body);
        let mut turns = 0;
        while poll_once(pin!(chunks.next())).is_pending() {
            turns += 1;
            assert!(polls.load(Relaxed) <= turns * 64, "{turns}");
        }
        assert!(turns >= 15, "{turns}");
        assert!(chunks.completion.is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn deadline_bounds_the_whole_stream() {
    let begin = Instant::now();
    let (payload, end) = read(Mock::new([data(unhex(CHUNK)), Step::Hang])).await;
    assert_eq!((&payload[..], outcome(&end).as_str()), (&b"abc"[..], "timeout"));
    assert_eq!(begin.elapsed().as_secs(), TIMEOUT.as_secs());

    // Even with data that is ready.
    let mut chunks = chunks(Mock::new((0..10).map(|_| data(unhex(CHUNK)))));
    for _ in 0..3 {
        assert_eq!(chunks.next().await.expect("a chunk").expect("no error"), "abc");
    }
    tokio::time::advance(TIMEOUT).await;
    let error = chunks.next().await.expect("an error").expect_err("the deadline has passed");
    assert!(error.is_timeout(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn wait_for_the_end_of_the_body_is_short() {
    for (last, expected) in
        [(unhex(DONE_OK), "ok"), (unhex(DONE_ERR), r#"function Runtime.Broken "x""#)]
    {
        let begin = Instant::now();
        let (_, end) = read(Mock::new([data(last), Step::Hang])).await;
        assert_eq!(outcome(&end), expected);
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    }
}

#[tokio::test]
async fn call_is_reported_when_the_stream_has_ended_or_is_dropped() {
    for (body, polls, expected, bytes) in [
        (vec![unhex(CHUNK), unhex(DONE_OK)], 2, Outcome::Succeeded, 3),
        (vec![unhex(CHUNK), unhex(DONE_ERR)], 2, Outcome::FunctionError, 3),
        (vec![unhex(EXCEPTION)], 1, Outcome::ServiceError, 0),
        (vec![unhex(CHUNK), unhex(CHUNK)], 3, Outcome::ConnectionError, 6),
        (vec![unhex(CHUNK), unhex(DONE_OK)], 1, Outcome::Cancelled, 3),
    ] {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let sink = reports.clone();
        let hook = Hook::new(move |report| {
            sink.lock().expect("no panic").push((report.outcome, report.response_bytes));
        });
        let recorder = Recorder::new(Some(hook), "f".to_owned(), None, 0, None);
        let mut chunks = chunks(Mock::of(body)).recorded_by(recorder);
        for _ in 0..polls {
            assert_eq!(*reports.lock().expect("no panic"), []);
            let _ = chunks.next().await;
        }
        drop(chunks);
        assert_eq!(*reports.lock().expect("no panic"), [(expected, bytes)]);
    }
}

/// A body that counts its polls. It drops its reference to the count when it is dropped.
struct Watched {
    body: Mock,
    polls: Arc<AtomicUsize>,
}

impl Watched {
    fn new(steps: impl IntoIterator<Item = Step>, polls: &Arc<AtomicUsize>) -> Self {
        Self { body: Mock::new(steps), polls: polls.clone() }
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = MockError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, MockError>>> {
        self.polls.fetch_add(1, Relaxed);
        Pin::new(&mut self.body).poll_frame(cx)
    }
}
