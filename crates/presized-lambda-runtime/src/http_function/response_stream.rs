//! The body of a streamed response.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures_core::Stream;
use http_body::Body;

use super::response::body_failed;
use crate::{BoxError, ErrorReport};

/// The data frames of a body. Trailers are left out.
pub(super) struct ResponseStream<B>(Pin<Box<B>>);

impl<B> ResponseStream<B> {
    pub(super) fn new(body: B) -> Self {
        Self(Box::pin(body))
    }
}

impl<B: Body<Error: Into<BoxError>>> Stream for ResponseStream<B> {
    type Item = Result<Bytes, ErrorReport>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match ready!(self.0.as_mut().poll_frame(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(body_failed(error)))),
                Some(Ok(frame)) => {
                    if let Ok(mut data) = frame.into_data() {
                        // `Bytes` is not copied.
                        return Poll::Ready(Some(Ok(data.copy_to_bytes(data.remaining()))));
                    }
                }
            }
        }
    }
}
