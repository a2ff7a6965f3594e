//! Random bodies: memory and content are checked against the bound and against `collect()`.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use presized::{Collect, CollectError, ContentLength, Mismatch, Reader};
use presized_support::drive::drive;
use presized_support::ledger::{Ledger, Mark};
use proptest::prelude::*;

use crate::{BOOKKEEPING, PATTERN, alone, body};

/// A body that checks in each poll that the memory held is within the bound of the received bytes.
struct Watched {
    frames: Vec<usize>,
    next: usize,
    received: usize,
    start: Mark,
    limit: u64,
    eager: u64,
}

impl Body for Watched {
    type Data = &'static [u8];
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<&'static [u8]>, Self::Error>>> {
        let live = self.start.spent().kept;
        let bound = self.limit.min(self.eager.max(4 * self.received as u64));
        assert!(
            live <= (bound + BOOKKEEPING) as i64,
            "{live} bytes held after {} received, limit {}, eager {}",
            self.received,
            self.limit,
            self.eager,
        );
        let Some(&len) = self.frames.get(self.next) else {
            return Poll::Ready(None);
        };
        let data = &PATTERN[self.received..][..len];
        self.next += 1;
        self.received += len;
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn memory_stays_within_the_bound_and_content_equals_collect(
        frames in prop::collection::vec(prop_oneof![Just(0), 1..100_usize, 4000..70_000_usize, 300_000..500_000_usize], 0..24),
        declared in prop_oneof![
            Just(None),
            Just(Some(0)),
            (-3..=3_i64).prop_map(Some),
            (100_000..20_000_000_i64).prop_map(Some),
            Just(Some(i64::MAX / 2)),
        ],
        kind in 0..3,
        limit in prop_oneof![Just(u64::MAX), 0..100_000_u64, 1_000_000..4_000_000_u64],
        eager in prop_oneof![Just(0_u64), 1..5000_u64, Just(65_536), Just(16 << 20)],
        mismatch in prop_oneof![Just(Mismatch::RejectShorter), Just(Mismatch::Reject), Just(Mismatch::Allow)],
    ) {
        let _alone = alone();
        let total: usize = frames.iter().sum();
        // A small number is a difference from the right length.
        let declared = declared.map(|n| if n.abs() <= 3 { (total as i64 + n).max(0) } else { n } as u64);
        let content_length = match (declared, kind) {
            (None, 0) => ContentLength::Invalid,
            (None, _) => ContentLength::Unknown,
            (Some(n), 0) => ContentLength::Hint(n),
            (Some(n), _) => ContentLength::Exact(n),
        };
        let (read, _) = Ledger::measure(|| {
            let watched = Watched {
                frames: frames.clone(), next: 0, received: 0, start: Mark::now(), limit, eager,
            };
            drive(Collect::new(watched, Reader::new(limit).eager(eager).mismatch(mismatch)).content_length(content_length).bytes())
        });
        let oracle = drive(body(total, 8192).collect()).unwrap().to_bytes();
        let cut = oracle.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        let exact = match content_length { ContentLength::Exact(n) => Some(n), _ => None };
        match read {
            Ok(content) => {
                prop_assert_eq!(content, oracle);
                prop_assert!(total as u64 <= limit);
                prop_assert!(mismatch == Mismatch::Allow || exact.is_none_or(|n| n <= total as u64));
                prop_assert!(mismatch != Mismatch::Reject || exact.is_none_or(|n| n == total as u64));
            }
            Err(CollectError::DeclaredTooLarge { declared, limit: l, .. }) => {
                prop_assert_eq!((Some(declared), l), (exact, limit));
                prop_assert!(declared > limit);
            }
            Err(error @ CollectError::TooLarge { .. }) => {
                prop_assert!(total as u64 > limit);
                prop_assert_eq!(error.into_partial(), &oracle[..cut]);
            }
            Err(error @ CollectError::Incomplete { .. }) => {
                prop_assert!(exact.is_some_and(|n| n > total as u64) && mismatch != Mismatch::Allow);
                prop_assert_eq!(error.into_partial(), oracle);
            }
            Err(error @ CollectError::Longer { .. }) => {
                prop_assert!(exact.is_some_and(|n| n < total as u64) && mismatch == Mismatch::Reject);
                let partial = error.into_partial();
                prop_assert!(oracle.starts_with(&partial));
                prop_assert!(partial.len() as u64 <= exact.unwrap_or(0));
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
