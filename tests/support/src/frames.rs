//! Content of a caller's choice, in frames as a fast peer makes hyper give them.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// A body of one content in frames of 8 KiB, then of twice as much each time, up to 400 KiB: the
/// read buffer of hyper for as long as every read fills it.
///
/// The frames are slices of the content, so that sending them takes no allocation.
#[derive(Clone, Debug)]
pub struct Frames {
    rest: Bytes,
    next: usize,
}

impl Frames {
    /// A body of this content, which says how long it is.
    pub fn of(content: Bytes) -> Self {
        Self { rest: content, next: FIRST }
    }

    /// The next frame, for whoever needs no body around it.
    pub fn next_frame(&mut self) -> Option<Bytes> {
        if self.rest.is_empty() {
            return None;
        }
        let size = self.next.min(self.rest.len());
        self.next = (self.next * 2).min(LAST);
        Some(self.rest.split_to(size))
    }
}

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.next_frame().map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

const FIRST: usize = 8 << 10;
const LAST: usize = 400 << 10;
