//! Bodies that several modules read.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::{Body, Frame};
use presized_support::mock::{Mock, MockError, Step};

pub(crate) const MIB: usize = 1 << 20;

/// Returns a body of `len` bytes in frames of 64 KiB. The last frame can be smaller.
pub(crate) fn body(len: usize) -> Mock {
    let frames =
        (0..len).step_by(65_536).map(move |at| Bytes::from(vec![b'x'; 65_536.min(len - at)]));
    Mock::new(frames.map(Step::Data))
}

/// Returns a body of `data` in one frame, which then fails with "reset".
pub(crate) fn reset_after(data: &'static str) -> Mock {
    Mock::new([Step::Data(data.into()), Step::Fail("reset")])
}

/// Returns the body "hello" in two frames, with [`trailers`].
pub(crate) fn hello_with_trailers() -> Mock {
    Mock::new([
        Step::Data("hel".into()),
        Step::Wait,
        Step::Data("lo".into()),
        Step::Trailers(trailers()),
    ])
}

pub(crate) fn trailers() -> HeaderMap {
    HeaderMap::from_iter([("x-sum".parse().unwrap(), HeaderValue::from_static("1"))])
}

/// A body that reports its drop.
pub(crate) struct ReportsDrop(pub(crate) Rc<Cell<bool>>, pub(crate) Mock);

impl Drop for ReportsDrop {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

impl Body for ReportsDrop {
    type Data = Bytes;
    type Error = MockError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, MockError>>> {
        Pin::new(&mut self.1).poll_frame(cx)
    }
}

/// A body of `left` equal frames of which each is ready at once.
pub(crate) struct Repeated {
    pub(crate) frame: &'static [u8],
    pub(crate) left: u32,
}

impl Body for Repeated {
    type Data = Bytes;
    type Error = MockError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, MockError>>> {
        let Some(left) = self.left.checked_sub(1) else { return Poll::Ready(None) };
        self.left = left;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(self.frame)))))
    }
}
