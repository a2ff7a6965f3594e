//! Frames that are handed over, and frames that are copied.

use std::convert::Infallible;

use bytes::Buf;
use http_body::{Body, Frame};
use http_body_util::StreamBody;
use presized::{Collect, CollectError, collect_presized};
use presized_support::drive::drive;
use presized_support::ledger::{Ledger, Spent};

use crate::{KIB, MIB, PATTERN, alone, body, count};

#[test]
fn body_of_one_large_frame_is_handed_over_without_a_copy() {
    let _alone = alone();
    for len in [64 * KIB, MIB, 64 * MIB] {
        for declared in [None, Some(len as u64)] {
            let (content, spent) = count(collect_presized(body(len, len), declared, u64::MAX));
            assert_eq!(content.unwrap().as_ptr(), PATTERN.as_ptr());
            assert_eq!(spent, Spent::default());
        }
    }
}

#[test]
fn body_of_one_small_frame_is_copied_to_its_length() {
    let _alone = alone();
    for len in [1, 100, 4 * KIB, 16 * KIB] {
        for declared in [None, Some(len as u64)] {
            let (content, spent) = count(collect_presized(body(len, len), declared, u64::MAX));
            assert_ne!(content.unwrap().as_ptr(), PATTERN.as_ptr());
            assert_eq!((spent.allocations, spent.bytes), (1, len as u64));
        }
    }
}

/// Returns a body of one frame that is not `Bytes`, so that it must be copied.
fn borrowed(len: usize) -> impl Body<Data = &'static [u8], Error = Infallible> {
    let frame = Ok::<_, Infallible>(Frame::data(&PATTERN[..len]));
    StreamBody::new(futures_util::stream::iter([frame]))
}

#[test]
fn large_frame_of_borrowed_data_is_copied_once() {
    let _alone = alone();
    let read = || Collect::new(borrowed(MIB), u64::MAX).collected();
    let (collected, spent) = count(read());
    let collected = collected.unwrap();
    assert_eq!(collected.content, PATTERN[..MIB]);
    assert_eq!((collected.stats.reservations, spent.allocations), (1, 1));
    let (error, _) = Ledger::measure(|| {
        Ledger::refuse_from(MIB);
        let read = drive(read());
        Ledger::refuse_from(usize::MAX);
        read.unwrap_err()
    });
    assert!(matches!(error, CollectError::OutOfMemory { requested: 1_048_576, .. }), "{error}");
}

#[test]
fn frames_of_chained_data_are_copied_once() {
    let _alone = alone();
    let halves = [&PATTERN[..MIB], &PATTERN[MIB..3 * MIB]];
    let frames = halves.map(|half| Ok::<_, Infallible>(Frame::data(half.chain(&b""[..]))));
    let body = StreamBody::new(futures_util::stream::iter(frames));
    let (content, spent) = count(collect_presized(body, Some(3 * MIB as u64), u64::MAX));
    assert_eq!(content.unwrap().len(), 3 * MIB);
    assert_eq!((spent.allocations, spent.bytes), (1, 3 * MIB as u64));
}
