//! The body that a response of the layer has.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::body_error::BodyError;
use crate::{CollectError, ContentLength, Partial, Presized};

pin_project! {
    /// The body of a response of [`PresizedService`](super::PresizedService): the content as one
    /// frame, or the frames of `B`; then the trailers.
    ///
    /// # Errors
    ///
    /// A [`CollectError<BodyError>`], and nothing behind it. `B` is dropped before it is yielded.
    /// Of a body that is streamed nothing is kept, so that there is nothing partial in the error.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost between two polls. Dropping it drops `B` and frees what was reserved.
    pub struct ResponseBody<B: Body> {
        #[pin]
        delivered: Delivered<B>,
    }
}

pin_project! {
    #[project = DeliveredProjection]
    enum Delivered<B: Body> {
        Presized { body: Presized<B> },
        Streamed {
            // None once it has ended or failed.
            #[pin]
            body: Option<B>,
            bound: Bound,
        },
    }
}

impl<B: Body> ResponseBody<B> {
    pub(super) fn presized(body: Presized<B>) -> Self {
        Self { delivered: Delivered::Presized { body } }
    }

    pub(super) fn streamed(body: B, bound: Bound) -> Self {
        Self { delivered: Delivered::Streamed { body: Some(body), bound } }
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
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.project().delivered.project() {
            DeliveredProjection::Presized { body } => {
                let frame = ready!(Pin::new(body).poll_frame(cx));
                Poll::Ready(
                    frame.map(|frame| frame.map_err(|error| error.map_body(BodyError::new))),
                )
            }
            DeliveredProjection::Streamed { mut body, bound } => {
                let Some(inner) = body.as_mut().as_pin_mut() else { return Poll::Ready(None) };
                let frame = match bound.start(inner.is_end_stream(), inner.size_hint()) {
                    Ok(()) => ready!(inner.poll_frame(cx)).map(|frame| bound.pass(frame)),
                    Err(error) => Some(Err(error)),
                };
                if !matches!(frame, Some(Ok(_))) {
                    body.set(None);
                }
                Poll::Ready(
                    frame.map(|frame| frame.map_err(|error| error.map_body(BodyError::new))),
                )
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.delivered {
            Delivered::Presized { body } => body.is_end_stream(),
            Delivered::Streamed { body, .. } => body.as_ref().is_none_or(B::is_end_stream),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.delivered {
            Delivered::Presized { body } => body.size_hint(),
            Delivered::Streamed { body, .. } => {
                body.as_ref().map_or(SizeHint::with_exact(0), B::size_hint)
            }
        }
    }
}

impl<B: Body + Default> Default for ResponseBody<B> {
    /// A body of the layer around the default of `B`, for layers outside that answer by
    /// themselves. There is no limit to what they say.
    fn default() -> Self {
        Self::streamed(B::default(), Bound::new(u64::MAX, ContentLength::Unknown, false))
    }
}

impl<B: Body> fmt::Debug for ResponseBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple("ResponseBody");
        match &self.delivered {
            Delivered::Presized { body } => tuple.field(body),
            Delivered::Streamed { bound, .. } => tuple.field(bound),
        }
        .finish()
    }
}

/// What is counted of a body that passes.
#[derive(Debug)]
pub(super) struct Bound {
    limit: u64,
    length: ContentLength,
    /// The head says that there is no content, whatever size the body gives itself.
    no_content: bool,
    received: u64,
    is_polled: bool,
}

impl Bound {
    pub(super) fn new(limit: u64, length: ContentLength, no_content: bool) -> Self {
        Self { limit, length, no_content, received: 0, is_polled: false }
    }

    /// Before the body is polled for the first time: refuses what declares too much.
    fn start<E>(&mut self, is_end_stream: bool, hint: SizeHint) -> Result<(), CollectError<E>> {
        if std::mem::replace(&mut self.is_polled, true) || is_end_stream {
            return Ok(());
        }
        let hint = if self.no_content { SizeHint::default() } else { hint };
        let (length, declared) = self.length.believed(hint);
        self.length = length;
        let limit = self.limit;
        if declared > limit {
            return Err(CollectError::DeclaredTooLarge { declared, limit });
        }
        Ok(())
    }

    fn pass<D: Buf, E>(
        &mut self,
        frame: Result<Frame<D>, E>,
    ) -> Result<Frame<Bytes>, CollectError<E>> {
        let (limit, partial) = (self.limit, Partial::default());
        match frame {
            Ok(frame) => {
                let len = frame.data_ref().map_or(0, Buf::remaining);
                self.received = self.received.saturating_add(len as u64);
                if self.received > limit {
                    let received = self.received;
                    return Err(CollectError::TooLarge { limit, received, partial });
                }
                // `Bytes` are not copied for it.
                Ok(frame.map_data(|mut data| data.copy_to_bytes(len)))
            }
            Err(source) => {
                let (declared, received) = (self.length.value(), self.received);
                Err(CollectError::Body { source, declared, received, partial })
            }
        }
    }
}
