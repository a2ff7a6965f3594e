//! The service that `PresizedLayer` makes.

use std::task::{Context, Poll};

use http::{Method, Request, Response, response};
use http_body::Body;
use presized::Collect;
use tower_service::Service;

use crate::settings::Settings;
use crate::{PresizedBody, ResponseFuture};

/// The service that [`PresizedLayer`](crate::PresizedLayer) makes of `S`.
///
/// It passes requests to `S` unchanged and replaces the body of each response by a
/// [`PresizedBody`]. It is ready when `S` is, and fails as `S` does.
#[derive(Clone, Debug)]
pub struct PresizedService<S> {
    inner: S,
    settings: Settings,
}

impl<S> PresizedService<S> {
    pub(crate) fn new(inner: S, settings: Settings) -> Self {
        Self { inner, settings }
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

impl<S, ReqB, ResB> Service<Request<ReqB>> for PresizedService<S>
where
    S: Service<Request<ReqB>, Response = Response<ResB>>,
    ResB: Body,
{
    type Response = Response<PresizedBody<ResB>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqB>) -> Self::Future {
        let method = request.method().clone();
        let settings = self.settings.for_request(request.extensions());
        ResponseFuture::new(self.inner.call(request), Exchange { method, settings })
    }
}

/// The part of a request that the service keeps until the response arrives.
#[derive(Debug)]
pub(crate) struct Exchange {
    method: Method,
    settings: Settings,
}

impl Exchange {
    /// Wraps the body of the response.
    pub(crate) fn wrap<B: Body>(&self, head: &response::Parts, body: B) -> PresizedBody<B> {
        let Self { method, settings: Settings { reader, delivery } } = self;
        let collect = Collect::of_response(method, head, body, reader.clone());
        PresizedBody::of(collect, *delivery)
    }
}
