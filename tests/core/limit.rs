//! The limit, and bodies that try to evade it.

use std::cell::Cell;
use std::convert::Infallible;
use std::pin::pin;

use bytes::{Buf, Bytes};
use http_body::{Frame, SizeHint};
use http_body_util::StreamBody;
use presized::{Collect, CollectError, ContentLength, Mismatch, Reader, collect_presized};
use presized_support::drive::poll_once;
use presized_support::mock::{Mock, Step, Unpolled};

#[tokio::test]
async fn limit_is_inclusive() {
    let table: &[(u64, &[&str], bool)] = &[
        (5, &["hello"], true),
        (5, &["hel", "lo"], true),
        (5, &["hello", ""], true),
        (5, &["hello", "!"], false),
        (5, &["hello!"], false),
        (0, &[], true),
        (0, &["", ""], true),
        (0, &["!"], false),
        (usize::MAX as u64, &["hello"], true),
        (u64::MAX, &["hello"], true),
    ];
    for &(limit, frames, fits) in table {
        for declared in [None, Some(frames.concat().len() as u64)] {
            let read = collect_presized(Mock::of(frames), declared, limit).await;
            match read {
                Ok(content) => assert!(fits && content == frames.concat(), "{limit} {frames:?}"),
                Err(error) => assert!(!fits && error.is_too_large(), "{limit} {frames:?} {error}"),
            }
        }
    }
}

#[tokio::test]
async fn body_over_limit_keeps_its_first_bytes() {
    let error = collect_presized(Mock::of(["hel", "lo, world"]), None, 5).await.unwrap_err();
    assert!(matches!(error, CollectError::TooLarge { limit: 5, received: 12, .. }), "{error}");
    assert_eq!(error.received(), 12);
    assert_eq!(error.into_partial(), "hello");
}

#[tokio::test]
async fn declared_length_over_limit_is_refused_before_polling() {
    let tib = 1_099_511_627_776;
    let unknown = SizeHint::default();
    let mut at_least = SizeHint::default();
    at_least.set_lower(tib);
    let table = [
        (unknown, ContentLength::Exact(tib)),
        (SizeHint::with_exact(tib), ContentLength::Unknown),
        (SizeHint::with_exact(tib), ContentLength::Exact(5)),
        (at_least, ContentLength::Unknown),
        (at_least, ContentLength::Invalid),
        (at_least, ContentLength::Hint(5)),
        (at_least, ContentLength::Exact(5)),
    ];
    for (hint, length) in table {
        for mismatch in [Mismatch::RejectShorter, Mismatch::Reject, Mismatch::Allow] {
            let error = Collect::new(Unpolled(hint), Reader::new(10_000_000).mismatch(mismatch))
                .content_length(length)
                .bytes()
                .await
                .unwrap_err();
            assert!(
                matches!(error, CollectError::DeclaredTooLarge { declared, limit: 10_000_000, ..} if declared == tib),
                "{length:?} {error}"
            );
            assert_eq!(error.into_partial(), "");
        }
    }
}

#[tokio::test]
async fn declared_length_one_byte_over_limit_is_refused() {
    assert!(collect_presized(Mock::of(["hello"]), Some(5), 5).await.is_ok());
    let error = collect_presized(Unpolled(SizeHint::new()), Some(6), 5).await.unwrap_err();
    assert!(matches!(error, CollectError::DeclaredTooLarge { declared: 6, limit: 5, .. }));
}

#[tokio::test]
async fn largest_declared_lengths_neither_panic_nor_abort() {
    for declared in
        [u64::MAX, u64::MAX - 1, 1 << 63, i64::MAX as u64, 1 << 62, 9_000_000_000_000_000_000]
    {
        for eager in [0, 1, 16 << 20] {
            let error = Collect::new(Mock::of(["hello"]), Reader::new(u64::MAX).eager(eager))
                .content_length(Some(declared))
                .bytes()
                .await
                .unwrap_err();
            assert!(
                matches!(error, CollectError::Incomplete { declared: d, received: 5, .. } if d == declared),
                "{error}"
            );
            assert_eq!(error.into_partial(), "hello");
        }
        let error = collect_presized(Mock::default(), Some(declared), u64::MAX).await.unwrap_err();
        assert!(matches!(error, CollectError::Incomplete { received: 0, .. }), "{error}");
    }
}

// With 32 bits the allocator can grant what the address space allows at most, and the body ends early.
#[cfg(target_pointer_width = "64")]
#[tokio::test]
async fn eager_bound_beyond_memory_fails_without_an_abort() {
    for declared in [u64::MAX, 1 << 63, i64::MAX as u64] {
        let error = Collect::new(Mock::of(["hello"]), Reader::new(u64::MAX).eager(u64::MAX))
            .content_length(Some(declared))
            .bytes()
            .await
            .unwrap_err();
        assert!(matches!(error, CollectError::OutOfMemory { received: 5, .. }), "{error}");
    }
}

#[tokio::test]
async fn wrong_lower_bounds_neither_panic_nor_fail() {
    for lower in [u64::MAX - 6, u64::MAX, 1 << 62] {
        let body = Mock::of(["hello ", "world"]).hint(lower, None);
        assert_eq!(Collect::new(body, u64::MAX).bytes().await.unwrap(), "hello world");
    }
}

/// Data whose `remaining` returns the next of `claims` on each call, and whose chunk is empty.
#[derive(Debug)]
struct WrongCount {
    claims: Vec<usize>,
    calls: Cell<usize>,
}

impl WrongCount {
    fn new(claims: &[usize]) -> Self {
        Self { claims: claims.to_vec(), calls: Cell::new(0) }
    }
}

impl Buf for WrongCount {
    fn remaining(&self) -> usize {
        let calls = self.calls.get();
        self.calls.set(calls + 1);
        self.claims[calls.min(self.claims.len() - 1)]
    }

    fn chunk(&self) -> &[u8] {
        b""
    }

    fn advance(&mut self, _: usize) {}
}

#[tokio::test]
async fn data_with_wrong_remaining_count_fails() {
    let claims: &[&[usize]] =
        &[&[1], &[10], &[100_000], &[usize::MAX], &[usize::MAX / 2 + 1], &[1, 1, 1000], &[1000, 1]];
    for claims in claims {
        for declared in [None, Some(10), Some(u64::MAX)] {
            for limit in [100, 1 << 20, u64::MAX] {
                let frames =
                    (0..50).map(|_| Ok::<_, Infallible>(Frame::data(WrongCount::new(claims))));
                let body = StreamBody::new(futures_util::stream::iter(frames));
                let read = Collect::new(body, limit).content_length(declared).bytes().await;
                assert!(read.is_err(), "{claims:?} {declared:?} {limit}");
            }
        }
    }
}

#[tokio::test]
async fn endless_empty_frames_fail_as_stalled() {
    let endless = std::iter::repeat_with(|| Step::Data(Bytes::new())).take(1_000_000);
    let body = Mock::new([Step::Data(Bytes::from_static(b"hello"))].into_iter().chain(endless));
    let error = collect_presized(body, None, 10).await.unwrap_err();
    assert!(matches!(error, CollectError::Stalled { received: 5, .. }), "{error}");
    assert_eq!(error.into_partial(), "hello");
}

#[tokio::test]
async fn endless_trailers_fail_as_stalled() {
    let body =
        Mock::new(std::iter::repeat_with(|| Step::Trailers(Default::default())).take(1_000_000));
    let error = collect_presized(body, None, 10).await.unwrap_err();
    assert!(matches!(error, CollectError::Stalled { .. }), "{error}");
}

#[test]
fn empty_frames_between_single_bytes_yield_to_other_tasks() {
    let frames = (0..2048).map(|i| if i % 50 == 0 { "x" } else { "" });
    let mut read = pin!(collect_presized(Mock::of(frames), None, 100));
    let mut polls = 1;
    while poll_once(read.as_mut()).is_pending() {
        polls += 1;
    }
    assert_eq!(polls, 2048 / 256 + 1);
}

#[tokio::test]
async fn empty_frames_between_data_frames_are_accepted() {
    let frames = (0..20_000).map(|i| if i % 100 == 0 { "x" } else { "" });
    assert_eq!(collect_presized(Mock::of(frames), None, 1000).await.unwrap().len(), 200);
}
