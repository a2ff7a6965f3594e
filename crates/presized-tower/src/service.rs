//! The service that a layer makes.

use std::task::{Context, Poll};

use http::{Method, Request, Response, response};
use http_body::Body;
use tower_service::Service;

use super::{Delivery, ResponseBody, ResponseFuture, Settings};
use presized::Collect;

/// Makes a [`ResponseBody`] of every response body of `S`. It is what
/// [`PresizedLayer`](super::PresizedLayer) makes.
#[derive(Clone, Debug)]
pub struct PresizedService<S> {
    inner: S,
    settings: Settings,
}

impl<S> PresizedService<S> {
    pub(super) fn new(inner: S, settings: Settings) -> Self {
        Self { inner, settings }
    }

    /// The service inside.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The service inside.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The service inside, without the layer.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, ReqB, ResB> Service<Request<ReqB>> for PresizedService<S>
where
    S: Service<Request<ReqB>, Response = Response<ResB>>,
    ResB: Body,
{
    type Response = Response<ResponseBody<ResB>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqB>) -> Self::Future {
        let method = request.method().clone();
        let settings = self.settings.of(request.extensions());
        ResponseFuture::new(self.inner.call(request), Exchange { method, settings })
    }
}

/// What is to be known of a request when its response comes.
#[derive(Debug)]
pub(super) struct Exchange {
    method: Method,
    settings: Settings,
}

impl Exchange {
    /// The body of the one response there is.
    pub(super) fn body<B: Body>(&self, head: &response::Parts, body: B) -> ResponseBody<B> {
        let Self { method, settings: Settings { reader, delivery } } = self;
        let collect = Collect::of_response(method, head, body, reader.clone());
        match delivery {
            Delivery::Presized => ResponseBody::presized(collect.into_presized()),
            Delivery::Streamed => ResponseBody::streamed(collect.into_limited()),
        }
    }
}
