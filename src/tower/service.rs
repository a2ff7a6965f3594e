//! The service that a layer makes.

use std::mem;
use std::task::{Context, Poll};

use http::{Method, Request, Response, response};
use http_body::Body;
use tower_service::Service;

use super::body::Bound;
use super::{Delivery, ResponseBody, ResponseFuture, ResponseLimit, Settings};
use crate::content_length::has_no_content;
use crate::{Collect, ContentLength};

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
    pub(super) fn body<B: Body>(&mut self, head: &response::Parts, body: B) -> ResponseBody<B> {
        let Self { method, settings } = self;
        let ResponseLimit(limit) = settings.limit;
        match settings.delivery {
            Delivery::Presized => {
                let mut collect = Collect::of(method, head, body, limit)
                    .mismatch(settings.mismatch)
                    // What is below can be any stack: one that compares a checksum, or that has a
                    // status for an error, says so after the last byte.
                    .checked_at_end()
                    .reuse(mem::take(&mut settings.reuse));
                if let Some(eager) = settings.eager {
                    collect = collect.eager(eager);
                }
                ResponseBody::presized(collect.presized())
            }
            Delivery::Streamed => {
                let no_content = has_no_content(method, head);
                let length = ContentLength::of(method, head);
                ResponseBody::streamed(body, Bound::new(limit, length, no_content))
            }
        }
    }
}
