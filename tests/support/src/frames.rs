//! A body of given content, in the frames that hyper yields for a fast peer.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// A body in frames of 8 KiB, 16 KiB and so on up to 400 KiB. The read buffer of hyper grows like this
/// while every read fills it.
///
/// The frames are slices of the content, so sending them takes no allocation.
#[derive(Clone, Debug)]
pub struct Frames {
    rest: Bytes,
    next: usize,
}

impl Frames {
    /// Creates a body of this content, with an exact size hint.
    pub fn of(content: Bytes) -> Self {
        Self { rest: content, next: FIRST }
    }

    /// Returns the next frame, for callers that need no body.
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
