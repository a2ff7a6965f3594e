//! The forms that the result of a read can have.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::Response;
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use presized::{
    BufferPool, Collect, CollectError, ContentLength, Presized, Progress, Reader, payload,
};
use presized_support::drive::{drive, poll_once};
use presized_support::mock::{Mock, Step};

use crate::bodies::{MIB, ReportsDrop, body, hello_with_trailers, reset_after, trailers};

#[tokio::test]
async fn every_form_returns_the_same_bytes() {
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
async fn awaited_collect_returns_what_bytes_returns() {
    for (limit, declared) in [(5, None), (5, Some(5)), (4, None), (4, Some(5)), (10, Some(6))] {
        let collect = || Collect::new(hello_with_trailers(), limit).content_length(declared);
        match (collect().await, collect().bytes().await) {
            (Ok(awaited), Ok(bytes)) => assert_eq!((&awaited[..], awaited.len()), (&bytes[..], 5)),
            (Err(awaited), Err(bytes)) => {
                assert_eq!(awaited.to_string(), bytes.to_string());
                assert_eq!(awaited.into_partial(), bytes.into_partial());
            }
            (awaited, bytes) => panic!("{awaited:?} {bytes:?}"),
        }
    }
}

#[tokio::test]
async fn awaited_collect_uses_the_pool_and_reports_progress() {
    let pool = BufferPool::new(64 << 20);
    let mut received = Vec::new();
    let content = Collect::new(body(MIB), Reader::new(u64::MAX).pool(&pool))
        .content_length(MIB as u64)
        .on_progress(|progress| {
            received.push(progress.received);
            ControlFlow::Continue(())
        })
        .await
        .unwrap();
    assert_eq!((content.len(), pool.stats().outstanding), (MIB, 1));
    assert_eq!((received.len(), received.last()), (16, Some(&(MIB as u64))));
}

#[test]
fn cancelled_await_drops_the_body_and_returns_its_buffer() {
    let pool = BufferPool::new(64 << 20);
    let dropped = Rc::new(Cell::new(false));
    let body = Mock::new([Step::Data(vec![b'x'; 40_000].into()), Step::Hang]);
    let read =
        Collect::new(ReportsDrop(dropped.clone(), body), Reader::new(MIB as u64).pool(&pool))
            .content_length(50_000);
    let mut read = Box::pin(read.into_future());
    assert!(poll_once(read.as_mut()).is_pending());
    assert_eq!((dropped.get(), pool.stats().outstanding), (false, 1));
    drop(read);
    assert_eq!((dropped.get(), pool.stats().outstanding), (true, 0));
}

#[test]
fn finished_await_has_dropped_the_body_and_never_reads_on() {
    for (limit, read) in [(5, Some("hello")), (4, None), (0, None)] {
        let dropped = Rc::new(Cell::new(false));
        let body = ReportsDrop(dropped.clone(), hello_with_trailers());
        let mut future = Box::pin(Collect::new(body, limit).into_future());
        let result = drive(future.as_mut()).ok();
        assert_eq!(result, read.map(Bytes::from));
        assert!(dropped.get());
        assert!(catch_unwind(AssertUnwindSafe(|| poll_once(future.as_mut()))).is_err());
    }
}

#[tokio::test]
async fn stats_report_length_frames_and_reservations() {
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
async fn progress_is_reported_after_every_frame_with_content() {
    let mut reports = Vec::new();
    let body = Mock::of(["hel", "", "lo", "!"]);
    Collect::new(body, 10)
        .content_length(Some(5))
        .on_progress(|Progress { received, expected, .. }| {
            reports.push((received, expected));
            ControlFlow::Continue(())
        })
        .bytes()
        .await
        .unwrap();
    // The declared length is reported as long as it can be right.
    assert_eq!(reports, [(3, Some(5)), (5, Some(5)), (6, None)]);
}

#[tokio::test]
async fn text_that_is_not_utf8_fails_with_its_content() {
    let error = Collect::new(Mock::of([&b"gr\xc3"[..], b"\xbc\xff"]), 10).text().await.unwrap_err();
    assert!(matches!(error, CollectError::InvalidUtf8 { valid_up_to: 4, .. }), "{error}");
    assert_eq!(error.received(), 5);
    assert_eq!(&error.into_partial()[..], b"gr\xc3\xbc\xff");
    // The end of a frame may cut a character.
    let text = Collect::new(Mock::of([&b"gr\xc3"[..], b"\xbc"]), 10).text().await.unwrap();
    assert_eq!(text, "grü");
}

#[tokio::test]
async fn byte_order_mark_stays_in_text() {
    for content in ["\u{feff}", "\u{feff}hello", "hel\u{feff}lo", "\u{feff}\u{feff}"] {
        // The frames cut the mark.
        let (head, tail) = content.as_bytes().split_at(2);
        let text = Collect::new(Mock::of([head, tail]), 20).text().await.unwrap();
        assert_eq!(text, content);
    }
    let half = Mock::of([b"\xef\xbb"]);
    let error = Collect::new(half, 20).text().await.unwrap_err();
    assert!(matches!(error, CollectError::InvalidUtf8 { valid_up_to: 0, .. }), "{error}");
}

#[tokio::test]
async fn failed_append_leaves_received_bytes_in_buffer() {
    let mut buffer = b"before ".to_vec();
    let error = Collect::new(reset_after("abcde"), 10).append_to(&mut buffer).await.unwrap_err();
    assert_eq!(buffer, b"before abcde");
    assert_eq!(error.received(), 5);
    assert_eq!(error.into_partial(), "");
}

#[tokio::test]
async fn append_over_limit_leaves_first_bytes_in_buffer() {
    let mut buffer = b"before ".to_vec();
    Collect::new(Mock::of(["hel", "lo, world"]), 5).append_to(&mut buffer).await.unwrap_err();
    assert_eq!(buffer, b"before hello");
}

#[test]
fn cancelled_append_leaves_received_bytes_in_buffer() {
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
async fn body_of_unknown_length_is_appended_to_buffer() {
    let frames: Vec<_> = (0..100).map(|i| vec![i; 10_000]).collect();
    let mut buffer = b"before ".to_vec();
    let stats = Collect::new(Mock::of(&frames), u64::MAX).append_to(&mut buffer).await.unwrap();
    assert_eq!(stats.received, 1_000_000);
    assert_eq!(buffer, [&b"before "[..], &frames.concat()].concat());
}

#[tokio::test]
async fn payload_length_is_read_from_the_response_head() {
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

#[test]
fn body_is_dropped_with_the_future() {
    let dropped = Rc::new(Cell::new(false));
    let body = ReportsDrop(dropped.clone(), Mock::new([Step::Data("x".into()), Step::Hang]));
    let mut read = Box::pin(Collect::new(body, 10).bytes());
    assert!(poll_once(read.as_mut()).is_pending());
    assert!(!dropped.get());
    drop(read);
    assert!(dropped.get());
}

#[tokio::test]
async fn data_of_several_chunks_is_read_without_send() {
    // The data has two chunks, and the stream is not `Send`.
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
async fn large_frame_of_several_chunks_becomes_one_buffer() {
    let half = vec![b'x'; 40_000];
    let data = Bytes::from(half.clone()).chain(Bytes::from(half.clone()));
    let frames = [Ok::<_, std::convert::Infallible>(Frame::data(data))];
    let body = StreamBody::new(futures_util::stream::iter(frames));
    assert_eq!(Collect::new(body, u64::MAX).bytes().await.unwrap(), [half.clone(), half].concat());
}

#[tokio::test]
async fn futures_are_send_if_the_body_is_send() {
    fn send<T: Send>(_: &T) {}
    let mut buffer = Vec::new();
    send(&presized::collect_presized(Mock::default(), None, 0));
    send(&Collect::new(Mock::default(), 0).text());
    send(&Collect::new(Mock::default(), 0).into_future());
    send(&Collect::new(Mock::default(), 0).append_to(&mut buffer));
    let until = tokio::time::sleep(Duration::ZERO);
    send(&Collect::new(Mock::default(), 0).until(until).into_future());
    send(&Presized::new(Mock::default(), 0));
    send(&payload::text(Response::new(Mock::default()), 0));
}

#[test]
fn shared_types_are_send_and_sync() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<presized::BufferPool>();
    shared::<presized::LengthHistory>();
    shared::<presized::MemoryBudget>();
    shared::<presized::MinRate>();
    // The AWS SDK takes only bodies that are `Sync`.
    shared::<Presized<Full<Bytes>>>();
    shared::<Reader>();
    shared::<presized::Partial>();
    shared::<presized::BodyError>();
    shared::<presized::Limited<Full<Bytes>>>();
    shared::<presized::Collected>();
    shared::<CollectError<std::io::Error>>();
}
