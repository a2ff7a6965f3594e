//! The response body of the layer.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use presized::{BodyError, CollectError, Limited, Presized};

/// The body of a response of a [`PresizedService`](crate::PresizedService).
///
/// It yields the whole content as one frame, or the frames of `B` as they arrive, as the
/// [`Delivery`](crate::Delivery) says. Trailers follow. Its data is always [`Bytes`]: the data of a
/// streamed frame is copied if it is of another type.
///
/// # Errors
///
/// Yields a [`CollectError<BodyError>`] as its last item. `B` is dropped before the error is yielded.
/// The error of a streamed body has no partial content, because its frames were delivered.
///
/// # Cancel safety
///
/// Nothing is lost between two polls. Dropping the body drops `B` and frees what was reserved.
#[must_use = "bodies do nothing unless polled"]
pub struct ResponseBody<B: Body> {
    delivered: Delivered<B>,
}

enum Delivered<B: Body> {
    Presized(Presized<B>),
    Streamed(Limited<B>),
}

impl<B: Body> ResponseBody<B> {
    pub(crate) fn presized(body: Presized<B>) -> Self {
        Self { delivered: Delivered::Presized(body) }
    }

    pub(crate) fn streamed(body: Limited<B>) -> Self {
        Self { delivered: Delivered::Streamed(body) }
    }
}

impl<B> Body for ResponseBody<B>
where
    B: Body,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = CollectError<BodyError>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = match &mut self.delivered {
            Delivered::Presized(body) => ready!(Pin::new(body).poll_frame(cx)),
            Delivered::Streamed(body) => ready!(Pin::new(body).poll_frame(cx)).map(|frame| {
                // Of `Bytes` this returns a handle and copies nothing.
                frame.map(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())))
            }),
        };
        Poll::Ready(frame.map(|frame| frame.map_err(CollectError::boxed)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.delivered {
            Delivered::Presized(body) => body.is_end_stream(),
            Delivered::Streamed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.delivered {
            Delivered::Presized(body) => body.size_hint(),
            Delivered::Streamed(body) => body.size_hint(),
        }
    }
}

impl<B: Body + Default> Default for ResponseBody<B> {
    /// Wraps the default body of `B` without a limit. Outer layers need it to make responses of
    /// their own.
    fn default() -> Self {
        Self::streamed(Limited::new(B::default(), u64::MAX))
    }
}

impl<B: Body> fmt::Debug for ResponseBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple("ResponseBody");
        match &self.delivered {
            Delivered::Presized(body) => tuple.field(body),
            Delivered::Streamed(body) => tuple.field(body),
        }
        .finish()
    }
}
