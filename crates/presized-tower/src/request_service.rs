//! The service that `PresizedRequestLayer` makes.

use std::task::{Context, Poll};

use http::Request;
use http_body::Body;
use presized::{Collect, Reader};
use tower_service::Service;

use crate::{Delivery, PresizedBody};

/// The service that [`PresizedRequestLayer`](crate::PresizedRequestLayer) makes of `S`.
///
/// It replaces the body of each request by a [`PresizedBody`] and passes the request to `S`. It is
/// ready when `S` is, responds as `S` does, and fails as `S` does.
#[derive(Clone, Debug)]
pub struct PresizedRequestService<S> {
    inner: S,
    reader: Reader,
    delivery: Delivery,
}

impl<S> PresizedRequestService<S> {
    pub(crate) fn new(inner: S, reader: Reader, delivery: Delivery) -> Self {
        Self { inner, reader, delivery }
    }

    /// Returns a reference to the inner service.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// Returns a mutable reference to the inner service.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// Returns the inner service without the layer.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, B> Service<Request<B>> for PresizedRequestService<S>
where
    S: Service<Request<PresizedBody<B>>>,
    B: Body,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> S::Future {
        let (head, body) = request.into_parts();
        let collect = Collect::of_request(&head, body, self.reader.clone());
        let body = PresizedBody::of(collect, self.delivery);
        self.inner.call(Request::from_parts(head, body))
    }
}
