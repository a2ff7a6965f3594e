//! `LengthHistory`: the predicted length of bodies that declare none.

use bytes::Bytes;
use presized::{Collect, CollectError, ContentLength, LengthHistory, Reader};
use presized_support::drive::drive;
use presized_support::mock::{Mock, Step};

use crate::bodies::{MIB, body};

#[test]
fn settled_history_reads_an_unknown_length_with_one_reservation() {
    let history = LengthHistory::new();
    let read = |len| {
        drive(Collect::new(body(len), Reader::new(u64::MAX).history(&history)).collected()).unwrap()
    };
    let first = read(6 * MIB);
    assert!(first.stats.reservations > 3, "{:?}", first.stats);
    for len in [6 * MIB, 6 * MIB + 1000, 6 * MIB - 1000] {
        let read = read(len);
        assert_eq!(read.content.len(), len);
        assert_eq!(read.stats.reservations, 1);
        assert!(read.stats.peak as f64 <= 1.25 * len as f64, "{:?}", read.stats);
        assert_eq!(read.stats.content_length, ContentLength::Unknown);
    }
}

#[test]
fn prediction_respects_limit_and_eager_bound_and_never_fails() {
    let history = LengthHistory::new();
    history.observe(u64::MAX);
    history.observe(u64::MAX);
    for (limit, eager, len, peak) in
        [(u64::MAX, 1 << 20, 100, MIB), (1 << 20, 16 << 20, 100, MIB), (u64::MAX, 0, 8, 8)]
    {
        let history = history.clone();
        let read =
            Collect::new(body(len), Reader::new(limit).eager(eager).history(&history)).collected();
        let read = drive(read).unwrap();
        assert_eq!(read.content.len(), len);
        // While the buffer is trimmed, its copy exists beside it.
        assert!(read.stats.peak <= (peak + len) as u64, "{:?}", read.stats);
    }
    let error = drive(Collect::new(body(6), Reader::new(5).history(&history)).bytes()).unwrap_err();
    assert!(matches!(error, CollectError::TooLarge { limit: 5, received: 6, .. }), "{error}");
}

#[test]
fn history_records_only_complete_bodies_of_unknown_length() {
    let history = LengthHistory::new();
    let read =
        |steps: Vec<Step>| Collect::new(Mock::new(steps), Reader::new(100).history(&history));
    drive(read(vec![Step::Data("hello".into())]).content_length(Some(5)).bytes()).unwrap();
    drive(read(vec![Step::Data("hello".into()), Step::Fail("reset")]).bytes()).unwrap_err();
    assert_eq!(history.expected(), None);
    drive(read(vec![Step::Data("hello".into())]).bytes()).unwrap();
    assert_eq!(history.expected(), Some(5));
}

#[test]
fn large_frame_is_handed_over_whatever_is_predicted() {
    let history = LengthHistory::new();
    let frame = Bytes::from(vec![b'x'; MIB]);
    for _ in 0..3 {
        let body = Mock::new([Step::Data(frame.clone())]);
        let content =
            drive(Collect::new(body, Reader::new(u64::MAX).history(&history)).bytes()).unwrap();
        assert_eq!(content.as_ptr(), frame.as_ptr());
    }
}
