//! What the servers answer with.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use http_body::{Frame, SizeHint};

use super::events::Events;

/// The body of a response.
pub(super) enum Body {
    /// With a length.
    Sized(Option<Bytes>),
    /// Without one, so that it is sent in chunks.
    Chunked(Option<Bytes>),
    Events(Box<Events>),
}

impl Body {
    pub(super) fn sized(content: impl Into<Bytes>) -> Self {
        Self::Sized(Some(content.into()).filter(|content| !content.is_empty()))
    }

    pub(super) fn chunked(content: Bytes) -> Self {
        Self::Chunked(Some(content))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Sized(content) | Self::Chunked(content) => {
                Poll::Ready(content.take().map(|content| Ok(Frame::data(content))))
            }
            Self::Events(events) => {
                events.poll_next(cx).map(|event| event.map(|event| Ok(Frame::data(event))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Sized(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Sized(content) => {
                SizeHint::with_exact(content.as_ref().map_or(0, |content| content.len() as u64))
            }
            Self::Chunked(_) | Self::Events(_) => SizeHint::default(),
        }
    }
}

/// A response with a body of JSON.
pub(super) fn json(status: StatusCode, content: impl Into<Bytes>) -> Response<Body> {
    let mut response = empty(status);
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    *response.body_mut() = Body::sized(content);
    response
}

/// A response without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::Sized(None));
    *response.status_mut() = status;
    response
}

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
