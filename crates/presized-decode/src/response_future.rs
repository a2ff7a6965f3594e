//! The future of a response.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use http_body::Body;
use pin_project_lite::pin_project;

use crate::{Decode, Decoder};

pin_project! {
    /// The future of a response, which [`DecodeService`](crate::DecodeService) returns.
    ///
    /// It is ready when the head of the response has arrived. The body is then a [`Decode`].
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        inner: F,
        decoder: Decoder,
    }
}

impl<F> ResponseFuture<F> {
    pub(crate) fn new(inner: F, decoder: Decoder) -> Self {
        Self { inner, decoder }
    }
}

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
{
    type Output = Result<Response<Decode<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = ready!(this.inner.poll(cx))?;
        Poll::Ready(Ok(this.decoder.response_or_failed(response)))
    }
}

impl<F> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").field("decoder", &self.decoder).finish_non_exhaustive()
    }
}
