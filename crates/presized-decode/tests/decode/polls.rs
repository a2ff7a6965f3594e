//! The work of one poll, and the frames that it yields.

use std::error::Error;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::Body;
use http_body_util::BodyExt;
use presized::Limited;
use presized_decode::{Coding, Codings, Decode};
use presized_support::mock::{Mock, Step};
use tokio::time::timeout;

use crate::{Form, text};

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Polls to the end. Returns the number of frames, of pending polls, and of wake-ups.
fn count(mut body: Pin<&mut Decode<Mock>>) -> (usize, usize, usize) {
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(wakes.clone());
    let (mut frames, mut pending) = (0, 0);
    loop {
        match body.as_mut().poll_frame(&mut Context::from_waker(&waker)) {
            Poll::Ready(None) => return (frames, pending, wakes.0.load(Relaxed)),
            Poll::Ready(Some(frame)) => {
                assert!(frame.unwrap().into_data().unwrap().len() <= 64 << 10);
                frames += 1;
            }
            Poll::Pending => pending += 1,
        }
    }
}

#[test]
fn long_content_without_a_decoded_byte_yields_and_wakes() {
    let skippable = {
        let mut frame = vec![0; 4 << 20];
        let len = frame.len() as u32 - 8;
        frame[..4].copy_from_slice(&[0x50, 0x2a, 0x4d, 0x18]);
        frame[4..8].copy_from_slice(&len.to_le_bytes());
        frame
    };
    let table = [
        (Codings::from(Coding::Gzip), Form::Gzip.code(b"").repeat(60_000), 18),
        (Codings::from(Coding::Zstd), Form::Zstd.code(b"").repeat(100_000), 18),
        (Codings::from(Coding::Zstd), skippable.clone(), 63),
        // The outer coding makes 4 MiB of a few bytes.
        (Codings::new([Coding::Zstd, Coding::Gzip]).unwrap(), Form::Gzip.code(&skippable), 63),
    ];
    for (codings, coded, least) in table {
        let body = Decode::new(codings.clone(), Mock::of([coded]));
        let (frames, pending, wakes) = count(pin!(body));
        println!("{codings:?}: {pending} yields");
        assert_eq!((frames, wakes), (0, pending));
        assert!(pending >= least, "{codings:?}: {pending}");
    }
}

#[test]
fn long_run_of_empty_frames_yields_and_wakes() {
    let coded = Form::Gzip.code(b"hello");
    let empty = || (0..10_000).map(|_| Step::Data(Bytes::new()));
    let steps = empty().chain([Step::Data(coded.into())]).chain(empty());
    let (frames, pending, wakes) = count(pin!(Decode::new(Coding::Gzip, Mock::new(steps))));
    assert_eq!((frames, wakes), (1, pending));
    assert!(pending > 200, "{pending}");
}

#[test]
fn body_with_trailers_that_are_not_delivered_is_not_at_its_end() {
    // The trailers are the last frame that the first poll reads.
    let mut trailers = HeaderMap::new();
    trailers.insert("x-sum", HeaderValue::from_static("1"));
    let steps = (0..63).map(|_| Step::Data(Bytes::new())).chain([Step::Trailers(trailers.clone())]);
    let coded = Mock::new(steps).end_stream_after(64);
    let mut body = pin!(Decode::new(Coding::Gzip, coded));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(body.as_mut().poll_frame(&mut cx).is_pending());
    assert!(!body.is_end_stream());
    let Poll::Ready(Some(Ok(frame))) = body.as_mut().poll_frame(&mut cx) else {
        panic!("no frame")
    };
    assert_eq!(frame.into_trailers().unwrap(), trailers);
    assert!(body.is_end_stream());
}

#[tokio::test]
async fn coded_bytes_without_content_are_bounded_by_a_limit_of_the_coded_body() {
    let coded = Form::Gzip.code(b"").repeat(60_000);
    let frames = || Mock::of(coded.chunks(1000));
    let limited = |limit| Decode::new(Coding::Gzip, Limited::new(frames(), limit));
    let content = limited(coded.len() as u64).collect().await.unwrap().to_bytes();
    assert_eq!(content, "");
    let error = limited(100_000).collect().await.unwrap_err();
    let source = error.source().unwrap().to_string();
    assert!(source.contains("100000 bytes"), "{source}");
}

#[test]
fn one_frame_is_at_most_64_kibibytes_and_one_poll_yields_one() {
    let content = text(2 << 20);
    for form in Form::ALL {
        let coded = form.code(&content);
        let (frames, pending, wakes) = count(pin!(Decode::new(form.coding(), Mock::of([coded]))));
        println!("{form:?}: {frames} frames, {pending} yields");
        assert!((32..45).contains(&frames), "{form:?}: {frames}");
        assert_eq!(pending, wakes);
    }
}

#[test]
fn small_frames_share_their_memory() {
    // Each member comes in a frame of its own.
    let coded = Form::Gzip.code(b"x");
    let mut body = pin!(Decode::new(Coding::Gzip, Mock::of(vec![&coded; 1000])));
    let mut frames = Vec::new();
    while let Poll::Ready(Some(frame)) =
        body.as_mut().poll_frame(&mut Context::from_waker(Waker::noop()))
    {
        frames.push(frame.unwrap().into_data().unwrap());
    }
    assert_eq!(frames.len(), 1000);
    let neighbours = frames.windows(2);
    let shared = neighbours.filter(|pair| pair[0].as_ptr().wrapping_add(1) == pair[1].as_ptr());
    assert!(shared.count() > 990);
}

#[tokio::test(flavor = "current_thread")]
async fn timeout_fires_while_a_body_that_is_always_ready_decodes() {
    /// Repeats an empty member of gzip, and is always ready. It ends, so that the test does too.
    struct Repeated(Bytes, u32);

    impl Body for Repeated {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
            let left = self.1.checked_sub(1);
            self.1 = left.unwrap_or(0);
            Poll::Ready(left.map(|_| Ok(http_body::Frame::data(self.0.clone()))))
        }
    }

    let member = Form::Gzip.code(b"").into();
    let body = Decode::new(Coding::Gzip, Repeated(member, 10_000_000));
    assert!(timeout(Duration::from_millis(20), body.collect()).await.is_err());
}
