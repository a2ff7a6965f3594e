//! The body that both layers make.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use presized::{BodyError, Collect, CollectError, Limited, Presized};

use crate::Delivery;

/// The body of a response of a [`PresizedService`](crate::PresizedService), and of a request to the
/// service inside of a [`PresizedRequestService`](crate::PresizedRequestService).
///
/// It yields the whole content as one frame, or the frames of `B` as they arrive, as the
/// [`Delivery`] says. Trailers follow. Its data is always [`Bytes`]: the data of a
/// streamed frame is copied if it is of another type.
///
/// # Errors
///
/// Yields a [`CollectError<BodyError>`] as its last item. `B` is dropped before the error is
/// yielded. The error of a streamed body has no partial content, because its frames were delivered.
///
/// # Cancel safety
///
/// Nothing is lost between two polls. Dropping the body drops `B` and frees what was reserved.
#[must_use = "bodies do nothing unless polled"]
pub struct PresizedBody<B: Body> {
    delivered: Delivered<B>,
}

enum Delivered<B: Body> {
    Presized(Presized<B>),
    Streamed(Limited<B>),
}

impl<B: Body> PresizedBody<B> {
    /// Delivers what `collect` reads.
    pub(crate) fn of(collect: Collect<B>, delivery: Delivery) -> Self {
        let delivered = match delivery {
            Delivery::Presized => Delivered::Presized(collect.into_presized()),
            Delivery::Streamed => Delivered::Streamed(collect.into_limited()),
        };
        Self { delivered }
    }
}

impl<B> Body for PresizedBody<B>
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

impl<B: Body + Default> Default for PresizedBody<B> {
    /// Wraps the default body of `B` without a limit. Outer layers need it to make responses of
    /// their own.
    fn default() -> Self {
        Self::of(Collect::new(B::default(), u64::MAX), Delivery::Streamed)
    }
}

impl<B: Body> fmt::Debug for PresizedBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple("PresizedBody");
        match &self.delivered {
            Delivered::Presized(body) => tuple.field(body),
            Delivered::Streamed(body) => tuple.field(body),
        }
        .finish()
    }
}
