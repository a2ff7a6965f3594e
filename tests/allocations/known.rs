//! The memory of bodies with a declared length.

use bytes::Bytes;
use http_body_util::BodyExt;
use presized::{Collect, Reader, collect_presized};
use presized_support::drive::{drive, poll_once};
use presized_support::ledger::{Ledger, Mark, Spent};
use presized_support::mock::{Mock, Step};

use crate::{BOOKKEEPING, KIB, MIB, PATTERN, alone, body, count};

/// Multiples of a page, common limits, and their neighbours.
const SIZES: [usize; 13] = [
    1,
    4095,
    4 * KIB,
    4 * KIB + 1,
    8 * KIB,
    64 * KIB,
    MIB,
    6 * MIB,
    6 * MIB + 100,
    12 * MIB - 3000,
    12 * MIB,
    12 * MIB + 1,
    16 * MIB,
];

#[test]
fn known_length_takes_one_allocation_of_that_length() {
    let _alone = alone();
    for len in SIZES {
        for frame in [len.div_ceil(2), 8 * KIB, 64 * KIB - 1, 400 * KIB] {
            // A body of one frame is not copied, so there are at least two.
            let frame = frame.clamp(1, len.div_ceil(2));
            let body = body(len, frame);
            let (content, spent) = count(collect_presized(body, Some(len as u64), u64::MAX));
            assert_eq!(content.unwrap(), PATTERN[..len], "{len} in frames of {frame}");
            let expected = Spent {
                allocations: 1,
                large: u64::from(len >= 4096),
                bytes: len as u64,
                peak: len as u64,
                kept: len as i64,
            };
            assert_eq!(spent, expected, "{len} in frames of {frame}");
        }
    }
}

#[test]
fn every_form_of_a_known_length_takes_one_allocation() {
    let _alone = alone();
    let len = 6 * MIB;
    let read = || Collect::new(body(len, 16 * KIB), len as u64).content_length(Some(len as u64));
    let one =
        Spent { allocations: 1, large: 1, bytes: len as u64, peak: len as u64, kept: len as i64 };
    let (vec, spent) = count(read().vec());
    assert_eq!((vec.unwrap().capacity(), spent), (len, one));
    let (string, spent) = count(read().text());
    assert_eq!((string.unwrap().capacity(), spent), (len, one));
    let (collected, spent) = count(read().collected());
    let stats = collected.unwrap().stats;
    assert_eq!((stats.reservations, stats.peak, spent), (1, len as u64, one));
    let mut buffer = Vec::new();
    let (stats, spent) = count(read().append_to(&mut buffer));
    assert_eq!((stats.unwrap().reservations, spent), (1, one));
    // The second body fits the capacity of the first.
    buffer.clear();
    let (stats, spent) = count(read().append_to(&mut buffer));
    assert_eq!((stats.unwrap().reservations, spent), (0, Spent::default()));
}

#[test]
fn presized_takes_its_boxes_and_one_large_allocation() {
    let _alone = alone();
    let len = 6 * MIB;
    let body = body(len, 16 * KIB);
    let (collected, spent) = count(async {
        Collect::new(body, u64::MAX)
            .content_length(Some(len as u64))
            .into_presized()
            .collect()
            .await
    });
    assert_eq!(collected.unwrap().to_bytes(), PATTERN[..len]);
    assert_eq!(spent.large, 1);
    assert!(spent.bytes <= len as u64 + 1024, "{spent:?}");
}

#[test]
fn polling_for_the_end_allocates_nothing() {
    let _alone = alone();
    // The buffer is full when these steps arrive.
    let tail = [Step::Wait, Step::Data(Bytes::new()), Step::Wait];
    let frames = PATTERN[..MIB].chunks(16 * KIB).map(|chunk| Step::Data(Bytes::from_static(chunk)));
    let body = Mock::new(frames.chain(tail));
    let (content, spent) = count(collect_presized(body, Some(MIB as u64), u64::MAX));
    assert_eq!(content.unwrap().len(), MIB);
    assert_eq!((spent.allocations, spent.bytes), (1, MIB as u64));
}

#[test]
fn stalled_body_holds_at_most_the_eager_bound() {
    let _alone = alone();
    for (eager, most) in [(None, 16 << 20), (Some(64 << 10), 64 << 10), (Some(0), 4)] {
        let body = Mock::new([Step::Data(Bytes::from_static(b"x")), Step::Hang]);
        let reader = eager.into_iter().fold(Reader::new(2 << 30), Reader::eager);
        let collect = Collect::new(body, reader).content_length(Some(1 << 30));
        let mut read = Box::pin(collect.bytes());
        let start = Mark::now();
        let (_, spent) = Ledger::measure(|| {
            assert!(poll_once(read.as_mut()).is_pending());
        });
        assert_eq!((spent.allocations, spent.peak), (1, most));
        // Dropping the future frees it.
        Ledger::measure(|| drop(read));
        assert!(start.spent().kept <= 0, "{:?}", start.spent());
    }
}

#[test]
fn partial_of_a_wrong_declared_length_keeps_only_received_bytes() {
    let _alone = alone();
    let (partial, spent) = Ledger::measure(|| {
        let body = Mock::new([Step::Data(Bytes::from_static(b"hello"))]);
        drive(collect_presized(body, Some(1 << 62), u64::MAX)).unwrap_err().into_partial()
    });
    assert_eq!(partial, "hello");
    assert!(spent.peak <= 16 * MIB as u64 + BOOKKEEPING, "{spent:?}");
    assert!(spent.kept < 1024, "{spent:?}");
}

#[test]
fn length_above_the_eager_bound_takes_two_allocations() {
    let _alone = alone();
    let len = 64 * MIB;
    let read = |eager: u64| {
        let body = body(len, 400 * KIB);
        count(
            Collect::new(body, Reader::new(u64::MAX).eager(eager))
                .content_length(Some(len as u64))
                .bytes(),
        )
    };
    let (content, spent) = read(16 << 20);
    assert_eq!(content.unwrap().len(), len);
    // The buffer of 16 MiB exists beside the one of 64 MiB while it is copied.
    assert_eq!((spent.allocations, spent.bytes), (2, 80 * MIB as u64));
    assert_eq!((spent.peak, spent.kept), (80 * MIB as u64, len as i64));
    let (_, spent) = read(64 << 20);
    assert_eq!((spent.allocations, spent.peak), (1, len as u64));
}
