//! The response bodies of both servers.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use tokio::time::sleep;

use crate::cut_body::CutBody;
use crate::fault::FaultKind;
use crate::invoke_api::EventStream;

/// The body of a response.
pub(crate) enum ResponseBody {
    /// A body with a content length.
    Sized(Option<Bytes>),
    /// A body without a content length, which HTTP/1 sends in chunks.
    Chunked(Option<Bytes>),
    EventStream(Box<EventStream>),
    /// A body whose connection is cut.
    Cut(Box<CutBody>),
}

/// An extension of a response whose connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The number of bytes of the body before the cut, or `None` without a response.
    pub(crate) after: Option<u64>,
    /// `true` if the connection is reset.
    pub(crate) resets: bool,
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
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match &mut *self {
            Self::Sized(content) | Self::Chunked(content) => {
                Poll::Ready(content.take().map(|content| Ok(Frame::data(content))))
            }
            Self::EventStream(events) => {
                events.poll_next(cx).map(|event| event.map(|event| Ok(Frame::data(event))))
            }
            Self::Cut(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Sized(content) => content.is_none(),
            Self::Cut(body) => body.is_end_stream(),
            Self::Chunked(_) | Self::EventStream(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Sized(content) => {
                SizeHint::with_exact(content.as_ref().map_or(0, |content| content.len() as u64))
            }
            Self::Chunked(_) | Self::EventStream(_) => SizeHint::default(),
            Self::Cut(body) => body.size_hint(),
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

/// Adds the fault of a response to it.
pub(crate) async fn with_fault(
    mut response: Response<ResponseBody>,
    fault: Option<FaultKind>,
) -> Response<ResponseBody> {
    match fault {
        Some(FaultKind::Cut(cut)) => drop(response.extensions_mut().insert(cut)),
        Some(FaultKind::Delay(time)) => sleep(time).await,
        _ => {}
    }
    response
}

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
