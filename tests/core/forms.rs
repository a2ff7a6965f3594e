//! The forms the result of a read can have, and what its failure leaves.

use std::cell::RefCell;
use std::error::Error;
use std::pin::pin;
use std::rc::Rc;
use std::task::Context;

use bytes::{Buf, Bytes};
use http::{HeaderMap, HeaderValue, Method, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, StreamBody};
use presized::{
    Collect, CollectError, ContentLength, Mismatch, Presized, Progress, Reader, ResponseExt,
    payload,
};
use presized_support::drive::poll_once;
use presized_support::mock::{Mock, MockError, Step};

fn trailers() -> HeaderMap {
    HeaderMap::from_iter([("x-sum".parse().unwrap(), HeaderValue::from_static("1"))])
}

fn hello_with_trailers() -> Mock {
    Mock::new([
        Step::Data(Bytes::from_static(b"hel")),
        Step::Wait,
        Step::Data(Bytes::from_static(b"lo")),
        Step::Trailers(trailers()),
    ])
}

fn reset_after(data: &'static str) -> Mock {
    Mock::new([Step::Data(Bytes::from_static(data.as_bytes())), Step::Fail("reset")])
}

#[tokio::test]
async fn every_form_has_the_same_bytes() {
    for declared in [None, Some(5), Some(1)] {
        let read = || Collect::new(hello_with_trailers(), 5).content_length(declared);
        assert_eq!(read().bytes().await.unwrap(), "hello");
        assert_eq!(read().vec().await.unwrap(), b"hello");
        assert_eq!(read().text().await.unwrap(), "hello");
        assert_eq!(read().prefix().await.unwrap().content, "hello");
        assert_eq!(read().into_presized().collect().await.unwrap().to_bytes(), "hello");
        let collected = read().collected().await.unwrap();
        assert_eq!((collected.content, collected.trailers), ("hello".into(), Some(trailers())));
        let mut buffer = b"oh ".to_vec();
        let stats = read().append_to(&mut buffer).await.unwrap();
        assert_eq!((buffer.as_slice(), stats.received), (&b"oh hello"[..], 5));
    }
}

#[tokio::test]
async fn stats_tell_how_the_reading_went() {
    let stats = Collect::new(hello_with_trailers(), 5)
        .content_length(Some(5))
        .collected()
        .await
        .unwrap()
        .stats;
    assert_eq!(stats.content_length, ContentLength::Exact(5));
    assert_eq!((stats.received, stats.frames, stats.reservations, stats.peak), (5, 2, 1, 5));
    assert!(!stats.is_longer() && !stats.is_shorter());
}

#[tokio::test]
async fn progress_is_told_after_every_frame_with_content() {
    let mut told = Vec::new();
    let body = Mock::of(["hel", "", "lo", "!"]);
    Collect::new(body, 10)
        .content_length(Some(5))
        .on_progress(|Progress { received, expected, .. }| told.push((received, expected)))
        .bytes()
        .await
        .unwrap();
    // The declared length is passed on as long as it can be right.
    assert_eq!(told, [(3, Some(5)), (5, Some(5)), (6, None)]);
}

#[tokio::test]
async fn text_is_validated() {
    let error = Collect::new(Mock::of([&b"gr\xc3"[..], b"\xbc\xff"]), 10).text().await.unwrap_err();
    assert!(matches!(error, CollectError::InvalidUtf8 { valid_up_to: 4, .. }), "{error}");
    assert_eq!(error.received(), 5);
    assert_eq!(&error.into_partial()[..], b"gr\xc3\xbc\xff");
    // A character may be cut by a frame.
    let text = Collect::new(Mock::of([&b"gr\xc3"[..], b"\xbc"]), 10).text().await.unwrap();
    assert_eq!(text, "grü");
}

#[tokio::test]
async fn prefix_stops_at_the_limit() {
    let table: &[(&[&str], Option<u64>, &str, bool)] = &[
        (&["hello"], None, "hello", false),
        (&["hello"], Some(5), "hello", false),
        (&["hel", "lo"], None, "hello", false),
        (&["hello", "!"], None, "hello", true),
        (&["hel", "lo, world"], None, "hello", true),
        (&["hello, world"], Some(12), "hello", true),
        (&["hel", "lo", ", world"], Some(12), "hello", true),
        (&[], None, "", false),
    ];
    for &(frames, declared, content, truncated) in table {
        let prefix =
            Collect::new(Mock::of(frames), 5).content_length(declared).prefix().await.unwrap();
        assert_eq!(
            (&prefix.content[..], prefix.truncated),
            (content.as_bytes(), truncated),
            "{frames:?}"
        );
    }
}

#[tokio::test]
async fn prefix_of_a_body_that_declares_more_awaits_nothing_else() {
    let body = Mock::new([Step::Data(Bytes::from_static(b"hello")), Step::Hang]);
    let prefix = Collect::new(body, 5).content_length(Some(1 << 40)).prefix().await.unwrap();
    assert_eq!((&prefix.content[..], prefix.truncated), (&b"hello"[..], true));
}

#[tokio::test]
async fn prefix_of_nothing_tells_whether_there_is_something() {
    assert!(!Collect::new(Mock::default(), 0).prefix().await.unwrap().truncated);
    assert!(Collect::new(Mock::of(["x"]), 0).prefix().await.unwrap().truncated);
}

#[tokio::test]
async fn prefix_that_is_cut_short_is_an_error() {
    let error =
        Collect::new(Mock::of(["he"]), 5).content_length(Some(12)).prefix().await.unwrap_err();
    assert!(matches!(error, CollectError::Incomplete { declared: 12, received: 2, .. }), "{error}");
}

#[tokio::test]
async fn failure_keeps_what_had_arrived() {
    let error =
        Collect::new(reset_after("abcde"), 10).content_length(Some(10)).bytes().await.unwrap_err();
    assert!(
        matches!(
            error,
            CollectError::Body { source: MockError("reset"), declared: Some(10), received: 5, .. }
        ),
        "{error}"
    );
    assert_eq!(error.received(), 5);
    assert_eq!(error.source().unwrap().to_string(), "reset");
    assert_eq!(error.into_partial(), "abcde");
}

#[tokio::test]
async fn failure_of_a_long_unknown_body_keeps_it_in_one_piece() {
    let frames = (0..100).map(|i| Step::Data(Bytes::from(vec![i; 10_000])));
    let body = Mock::new(frames.chain([Step::Fail("reset")]));
    let partial = Collect::new(body, u64::MAX).vec().await.unwrap_err().into_partial();
    assert_eq!(partial.len(), 1_000_000);
    assert!((0..100).all(|i| partial[i * 10_000..][..10_000].iter().all(|&b| b == i as u8)));
}

#[tokio::test]
async fn failure_leaves_what_had_arrived_in_the_callers_buffer() {
    let mut buffer = b"before ".to_vec();
    let error = Collect::new(reset_after("abcde"), 10).append_to(&mut buffer).await.unwrap_err();
    assert_eq!(buffer, b"before abcde");
    assert_eq!(error.received(), 5);
    assert_eq!(error.into_partial(), "");
}

#[tokio::test]
async fn too_large_leaves_the_first_bytes_in_the_callers_buffer() {
    let mut buffer = b"before ".to_vec();
    Collect::new(Mock::of(["hel", "lo, world"]), 5).append_to(&mut buffer).await.unwrap_err();
    assert_eq!(buffer, b"before hello");
}

#[test]
fn cancelling_leaves_what_had_arrived_in_the_callers_buffer() {
    for size in [5, 100_000] {
        let arrived = vec![b'x'; size];
        let body = Mock::new([
            Step::Data(Bytes::from(arrived.clone())),
            Step::Data(Bytes::from(arrived.clone())),
            Step::Hang,
        ]);
        let mut buffer = b"before ".to_vec();
        {
            let mut read = pin!(Collect::new(body, u64::MAX).append_to(&mut buffer));
            assert!(poll_once(read.as_mut()).is_pending());
        }
        assert_eq!(buffer, [b"before ".to_vec(), arrived.clone(), arrived].concat());
    }
}

#[tokio::test]
async fn long_unknown_body_goes_behind_what_was_in_the_buffer() {
    let frames: Vec<_> = (0..100).map(|i| vec![i; 10_000]).collect();
    let mut buffer = b"before ".to_vec();
    let stats = Collect::new(Mock::of(&frames), u64::MAX).append_to(&mut buffer).await.unwrap();
    assert_eq!(stats.received, 1_000_000);
    assert_eq!(buffer, [&b"before "[..], &frames.concat()].concat());
}

/// Tells when it is dropped.
struct Dropped(Rc<RefCell<bool>>, Mock);

impl Drop for Dropped {
    fn drop(&mut self) {
        *self.0.borrow_mut() = true;
    }
}

impl Body for Dropped {
    type Data = Bytes;
    type Error = MockError;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, MockError>>> {
        std::pin::Pin::new(&mut self.1).poll_frame(cx)
    }
}

#[test]
fn body_is_dropped_with_the_future() {
    let dropped = Rc::new(RefCell::new(false));
    let body =
        Dropped(dropped.clone(), Mock::new([Step::Data(Bytes::from_static(b"x")), Step::Hang]));
    let mut read = Box::pin(Collect::new(body, 10).bytes());
    assert!(poll_once(read.as_mut()).is_pending());
    assert!(!*dropped.borrow());
    drop(read);
    assert!(*dropped.borrow());
}

#[tokio::test]
async fn presized_drops_the_body_before_it_yields() {
    for (body, limit) in [(Mock::of(["hello"]), 5), (Mock::of(["hello"]), 4), (reset_after("x"), 5)]
    {
        let dropped = Rc::new(RefCell::new(false));
        let mut body = Presized::new(Dropped(dropped.clone(), body), limit);
        let frame = body.frame().await.unwrap();
        assert!(*dropped.borrow(), "{frame:?}");
    }
}

#[tokio::test]
async fn presized_yields_one_frame_then_the_trailers() {
    let mut body = Presized::new(hello_with_trailers(), 5);
    assert!(!body.is_end_stream());
    let frame = body.frame().await.unwrap().unwrap();
    assert_eq!(frame.into_data().unwrap(), "hello");
    assert!(!body.is_end_stream());
    assert_eq!(body.frame().await.unwrap().unwrap().into_trailers().unwrap(), trailers());
    assert!(body.is_end_stream());
    assert!(body.frame().await.is_none());
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn presized_of_nothing_yields_nothing() {
    let mut body = Presized::new(Mock::default(), 5);
    assert!(body.frame().await.is_none());
    assert!(body.is_end_stream());
    assert!(Presized::new(Full::<Bytes>::default(), 5).is_end_stream());
}

#[tokio::test]
async fn presized_tells_its_size() {
    let mut body = Presized::new(Mock::of(["hello"]).exact(5), 5);
    assert_eq!(body.size_hint().exact(), Some(5));
    body.frame().await.unwrap().unwrap();
    assert_eq!(body.size_hint().exact(), Some(0));
}

#[tokio::test]
async fn presized_error_is_the_last_it_yields() {
    let mut body = Presized::new(Mock::of(["hello", "!"]), 5);
    assert!(body.frame().await.unwrap().unwrap_err().is_too_large());
    assert!(body.frame().await.is_none());
    assert!(body.is_end_stream());
}

#[tokio::test]
async fn response_keeps_its_head() {
    let response = Response::builder()
        .status(201)
        .header("content-length", "5")
        .body(Mock::of(["hello"]))
        .unwrap()
        .into_presized(&Method::GET, 5);
    assert_eq!(response.status(), 201);
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "hello");
}

#[tokio::test]
async fn payloads_are_read_by_their_head() {
    let response = |body| Response::builder().header("content-length", "5").body(body).unwrap();
    assert_eq!(payload::blob(response(Mock::of(["hello"])), 5).await.unwrap(), "hello");
    assert_eq!(payload::text(response(Mock::of(["hello"])), 5).await.unwrap(), "hello");
    let cut = payload::blob(response(Mock::of(["hell"])), 5).await.unwrap_err();
    assert!(matches!(cut, CollectError::Incomplete { declared: 5, received: 4, .. }));
    let refused = payload::text(response(Mock::of(["hello"])), 4).await.unwrap_err();
    assert!(matches!(refused, CollectError::DeclaredTooLarge { declared: 5, limit: 4, .. }));
    let coded = payload::text(response(Mock::of([b"hell\xff"])), 5);
    assert!(matches!(coded.await.unwrap_err(), CollectError::InvalidUtf8 { valid_up_to: 4, .. }));
}

#[tokio::test]
async fn any_data_in_any_number_of_pieces() {
    // A `Buf` of two chunks that is neither `Send` nor contiguous.
    let piece = |a: &'static str, b: &'static str| a.as_bytes().chain(b.as_bytes());
    let frames = [piece("he", "l"), piece("lo", ", "), piece("", "world")];
    let not_send = Rc::new(());
    let body = StreamBody::new(futures_util::stream::iter(frames.map(|data| {
        let _not_send = &not_send;
        Ok::<_, Rc<()>>(Frame::data(data))
    })));
    assert_eq!(Collect::new(body, 12).bytes().await.unwrap(), "hello, world");
}

#[tokio::test]
async fn large_frame_in_pieces_becomes_one_buffer() {
    let half = vec![b'x'; 40_000];
    let data = Bytes::from(half.clone()).chain(Bytes::from(half.clone()));
    let frames = [Ok::<_, std::convert::Infallible>(Frame::data(data))];
    let body = StreamBody::new(futures_util::stream::iter(frames));
    assert_eq!(Collect::new(body, u64::MAX).bytes().await.unwrap(), [half.clone(), half].concat());
}

#[test]
fn futures_are_send_where_the_body_is() {
    fn send<T: Send>(_: &T) {}
    let mut buffer = Vec::new();
    send(&presized::collect_presized(Mock::default(), None, 0));
    send(&Collect::new(Mock::default(), 0).text());
    send(&Collect::new(Mock::default(), 0).append_to(&mut buffer));
    send(&Presized::new(Mock::default(), 0));
    send(&payload::text(Response::new(Mock::default()), 0));
}

#[tokio::test]
async fn messages_state_the_numbers() {
    let read = |body: Mock, reader: Reader| Collect::new(body, reader).content_length(Some(10));
    let message = |error: CollectError<MockError>| error.to_string();
    assert_eq!(
        message(read(Mock::default(), 9.into()).bytes().await.unwrap_err()),
        "body declares 10 bytes, over the limit of 9 bytes"
    );
    assert_eq!(
        message(read(Mock::of(["12345"]), 10.into()).bytes().await.unwrap_err()),
        "body ended early: 5 of 10 declared bytes received"
    );
    assert_eq!(
        message(read(reset_after("12345"), 10.into()).bytes().await.unwrap_err()),
        "body failed: 5 of 10 declared bytes received"
    );
    assert_eq!(
        message(Collect::new(reset_after("12345"), 10).bytes().await.unwrap_err()),
        "body failed: 5 bytes received"
    );
    assert_eq!(
        message(Collect::new(Mock::of(["12345", "6"]), 5).bytes().await.unwrap_err()),
        "body is over the limit of 5 bytes: 6 bytes received"
    );
    let longer = read(Mock::of(["123456789", "01"]), Reader::new(99).mismatch(Mismatch::Reject));
    assert_eq!(
        message(longer.bytes().await.unwrap_err()),
        "body is longer than declared: 11 bytes received, 10 declared"
    );
}

#[tokio::test]
async fn debug_output_has_no_content() {
    let error = Collect::new(reset_after("secret"), 10).bytes().await.unwrap_err();
    let debug = format!("{error:?}");
    assert!(debug.contains("Partial(6 bytes)") && !debug.contains("secret"), "{debug}");
    let collected = Collect::new(Mock::of(["secret"]), 10).collected().await.unwrap();
    let prefix = Collect::new(Mock::of(["secret"]), 10).prefix().await.unwrap();
    for debug in [format!("{collected:?}"), format!("{prefix:?}")] {
        assert!(debug.contains("6 bytes") && !debug.contains("secret"), "{debug}");
    }
}

#[tokio::test]
async fn boxed_error_of_a_body_becomes_a_source() {
    type BoxError = Box<dyn Error + Send + Sync>;
    let body = reset_after("abcde").map_err(|error| -> BoxError { error.into() });
    let error = Collect::new(body, 10).bytes().await.unwrap_err();
    let error = error.map_body(std::io::Error::other);
    assert_eq!(error.source().unwrap().to_string(), "reset");
    assert_eq!(error.into_partial(), "abcde");
}

#[test]
fn shared_parts_are_send_and_sync() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<presized::BufferPool>();
    shared::<presized::LengthHistory>();
    shared::<presized::MemoryBudget>();
    shared::<Reader>();
    shared::<presized::Collected>();
    shared::<CollectError<std::io::Error>>();
}

#[tokio::test]
async fn prefix_of_nothing_is_known_from_a_declared_length() {
    let prefix = Collect::new(Mock::new([Step::Hang]), 0).content_length(Some(5)).prefix().await;
    assert!(prefix.unwrap().truncated);
}

#[tokio::test]
async fn prefix_keeps_nothing_else_of_a_frame_alive() {
    let frame = Bytes::from(vec![b'x'; 100_000]);
    let prefix =
        Collect::new(Mock::new([Step::Data(frame.clone())]), 40_000).prefix().await.unwrap();
    assert_eq!((prefix.content.len(), prefix.truncated), (40_000, true));
    assert!(frame.is_unique());
    let body = Mock::new([Step::Data(frame.clone())]);
    let partial = Collect::new(body, 40_000).bytes().await.unwrap_err().into_partial();
    assert_eq!(partial.len(), 40_000);
    assert!(frame.is_unique());
}

/// Counts down as it is read, as the bodies of hyper do.
struct CountsDown(u64);

impl Body for CountsDown {
    type Data = Bytes;
    type Error = MockError;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, MockError>>> {
        if self.0 == 0 {
            // The end is known and not told yet.
            return std::task::Poll::Pending;
        }
        self.0 -= 1;
        std::task::Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
    }

    fn is_end_stream(&self) -> bool {
        self.0 == 0
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.0)
    }
}

#[test]
fn presized_is_not_at_its_end_before_it_has_yielded() {
    let mut body = Presized::new(CountsDown(2), 10);
    assert!(poll_once(pin!(body.frame())).is_pending());
    assert!(!body.is_end_stream());
    assert_eq!(body.size_hint().exact(), Some(2));
}

#[test]
fn presized_that_panicked_yields_nothing_else() {
    let collect = Collect::new(Mock::of(["abc", "def"]), 10)
        .on_progress(|progress| assert!(progress.received > 3, "a bug of the caller's"));
    let mut body = collect.into_presized();
    let poll = std::panic::AssertUnwindSafe(|| poll_once(pin!(body.frame())).is_ready());
    assert!(std::panic::catch_unwind(poll).is_err());
    assert!(body.is_end_stream());
}
