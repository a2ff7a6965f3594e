//! The response bodies of both servers.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};

use crate::invoke_api::EventStream;

/// The body of a response.
pub(crate) enum ResponseBody {
    /// A body with a content length.
    Sized(Option<Bytes>),
    /// A body without a content length, which HTTP/1 sends in chunks.
    Chunked(Option<Bytes>),
    EventStream(Box<EventStream>),
}

impl ResponseBody {
    pub(crate) fn sized(content: impl Into<Bytes>) -> Self {
        Self::Sized(Some(content.into()).filter(|content| !content.is_empty()))
    }

    pub(crate) fn chunked(content: Bytes) -> Self {
        Self::Chunked(Some(content))
    }
}

impl Body for ResponseBody {
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
            Self::EventStream(events) => {
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
            Self::Chunked(_) | Self::EventStream(_) => SizeHint::default(),
        }
    }
}

/// Returns a response with a JSON body.
pub(crate) fn json_response(
    status: StatusCode,
    content: impl Into<Bytes>,
) -> Response<ResponseBody> {
    let mut response = empty_response(status);
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    *response.body_mut() = ResponseBody::sized(content);
    response
}

/// Returns a response without a body.
pub(crate) fn empty_response(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::Sized(None));
    *response.status_mut() = status;
    response
}

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
