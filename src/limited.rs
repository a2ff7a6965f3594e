//! A body that bounds another body without collecting it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http_body::{Body, Frame, SizeHint};

use crate::declared::{Declared, Expectation};
use crate::{Collect, CollectError, Partial, Reader};

/// A body that yields the frames of `B` as they arrive, and fails when they pass a limit.
///
/// Use it for content that is streamed and not read into memory. It keeps nothing, so it does not
/// use the pool, the budget and the history of the [`Reader`]. It does not use the minimum rate,
/// because the consumer can be the one that is slow. It does not compare the declared length with
/// the bytes that arrive: the transport can do that.
///
/// # Errors
///
/// - [`DeclaredTooLarge`](CollectError::DeclaredTooLarge) before the body is polled, if the
///   declared length is over the limit.
/// - [`TooLarge`](CollectError::TooLarge) in place of the frame that passes the limit.
/// - [`Body`](CollectError::Body) if the body fails, even after its last declared byte. [`Collect`]
///   ignores an error there by default.
///
/// An error is the last item. `B` is dropped before the error is yielded, and the error has no
/// partial content.
///
/// # Cancel safety
///
/// Nothing is lost between two polls. Dropping it drops `B`.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use http_body_util::{BodyExt, Full};
/// use presized::Limited;
///
/// let mut body = Limited::new(Full::<bytes::Bytes>::from("hello"), 4);
/// let error = body.frame().await.unwrap().unwrap_err();
/// assert!(error.is_too_large());
/// assert!(body.frame().await.is_none());
/// # Ok(())
/// # }
/// ```
#[must_use = "bodies do nothing unless polled"]
pub struct Limited<B> {
    // Boxed, because a pinned field needs either unsafe code or one more dependency. `None` after
    // the end and after an error.
    body: Option<Pin<Box<B>>>,
    reader: Reader,
    declared: Declared,
    /// Decided before the first poll.
    expectation: Option<Expectation>,
    received: u64,
}

type FrameResult<B> = Result<Frame<<B as Body>::Data>, CollectError<<B as Body>::Error>>;

impl<B: Body> Limited<B> {
    /// Bounds `body`. `reader` is the limit in bytes, inclusive, or a [`Reader`].
    pub fn new(body: B, reader: impl Into<Reader>) -> Self {
        Collect::new(body, reader).into_limited()
    }

    pub(crate) fn with(body: B, reader: Reader, declared: Declared) -> Self {
        let body = Some(Box::pin(body));
        Self { body, reader, declared, expectation: None, received: 0 }
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Option<FrameResult<B>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let limit = self.reader.get_limit();
        let expectation = self.expectation.get_or_insert_with(|| {
            self.declared.expectation(&self.reader, body.is_end_stream(), body.size_hint())
        });
        let declared = expectation.least;
        if declared > limit {
            return Poll::Ready(Some(Err(CollectError::DeclaredTooLarge { declared, limit })));
        }
        let declared = expectation.length.value();
        let Some(frame) = ready!(body.as_mut().poll_frame(cx)) else { return Poll::Ready(None) };
        Poll::Ready(Some(match frame {
            Ok(frame) => {
                let length = frame.data_ref().map_or(0, Buf::remaining);
                self.received = self.received.saturating_add(length as u64);
                if self.received > limit {
                    let (received, partial) = (self.received, Partial::default());
                    Err(CollectError::TooLarge { limit, received, partial })
                } else {
                    Ok(frame)
                }
            }
            Err(source) => {
                let (received, partial) = (self.received, Partial::default());
                Err(CollectError::Body { source, declared, received, partial })
            }
        }))
    }
}

impl<B: Body> Body for Limited<B> {
    type Data = B::Data;
    type Error = CollectError<B::Error>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = ready!(self.poll_body(cx));
        if !matches!(frame, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(|body| body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or(SizeHint::with_exact(0), |body| body.size_hint())
    }
}

impl<B> fmt::Debug for Limited<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limited")
            .field("limit", &self.reader.get_limit())
            .field("received", &self.received)
            .finish_non_exhaustive()
    }
}
