//! The future of a response.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use http_body::Body;
use pin_project_lite::pin_project;

use crate::PresizedBody;
use crate::service::Exchange;

pin_project! {
    /// The future of a response, which [`PresizedService`](crate::PresizedService) returns.
    ///
    /// It is ready when the head of the response has arrived. The body is then a [`PresizedBody`].
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        inner: F,
        exchange: Exchange,
    }
}

impl<F> ResponseFuture<F> {
    pub(crate) fn new(inner: F, exchange: Exchange) -> Self {
        Self { inner, exchange }
    }
}

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
{
    type Output = Result<Response<PresizedBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (head, body) = ready!(this.inner.poll(cx))?.into_parts();
        let body = this.exchange.wrap(&head, body);
        Poll::Ready(Ok(Response::from_parts(head, body)))
    }
}

impl<F> fmt::Debug for ResponseFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").field("exchange", &self.exchange).finish_non_exhaustive()
    }
}
