//! Bodies that take no memory: empty, refused, or without a frame.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use presized::{CollectError, collect_presized};
use presized_support::drive::poll_once;
use presized_support::ledger::{Ledger, Spent};
use presized_support::mock::{Mock, Step};

use crate::{KIB, MIB, alone, body, count};

/// A body of empty frames.
struct EmptyFrames {
    end_stream: bool,
    frames: usize,
}

impl Body for EmptyFrames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.frames == 0 {
            return Poll::Ready(None);
        }
        self.frames -= 1;
        Poll::Ready(Some(Ok(Frame::data(Bytes::new()))))
    }

    fn is_end_stream(&self) -> bool {
        self.end_stream
    }
}

#[test]
fn empty_body_allocates_nothing() {
    let _alone = alone();
    let table = [
        ("at its end", EmptyFrames { end_stream: true, frames: 0 }, None),
        ("at its end with a declared length", EmptyFrames { end_stream: true, frames: 0 }, Some(5)),
        ("ends at once", EmptyFrames { end_stream: false, frames: 0 }, None),
        ("declares 0 bytes", EmptyFrames { end_stream: false, frames: 0 }, Some(0)),
        (
            "empty frames of declared length 0",
            EmptyFrames { end_stream: false, frames: 3 },
            Some(0),
        ),
        ("empty frames of unknown length", EmptyFrames { end_stream: false, frames: 3 }, None),
    ];
    for (what, body, declared) in table {
        let (content, spent) = count(collect_presized(body, declared, 10));
        assert_eq!(content.unwrap(), "", "{what}");
        assert_eq!(spent, Spent::default(), "{what}");
    }
}

#[test]
fn refused_body_allocates_nothing() {
    let _alone = alone();
    for declared in [11, 1 << 40, 1 << 62, u64::MAX] {
        let body = body(MIB, 16 * KIB);
        let (error, spent) = count(collect_presized(body, Some(declared), 10));
        let error = error.unwrap_err();
        assert!(matches!(error, CollectError::DeclaredTooLarge { .. }), "{error}");
        assert_eq!((spent.allocations, spent.bytes), (0, 0));
    }
}

#[test]
fn body_without_a_frame_allocates_nothing() {
    let _alone = alone();
    let body = Mock::new([Step::Hang]).exact(1 << 30);
    let mut read = pin!(collect_presized(body, Some(1 << 30), u64::MAX));
    let (_, spent) = Ledger::measure(|| {
        assert!(poll_once(read.as_mut()).is_pending());
    });
    assert_eq!(spent, Spent::default());
}
