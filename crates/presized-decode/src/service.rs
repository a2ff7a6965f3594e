//! The service that `DecodeLayer` makes.

use std::sync::LazyLock;
use std::task::{Context, Poll};

use http::header::{ACCEPT_ENCODING, RANGE};
use http::{HeaderValue, Request, Response};
use http_body::Body;
use tower_service::Service;

use crate::{Coding, Decode, Decoder, ResponseFuture};

/// The service that [`DecodeLayer`](crate::DecodeLayer) makes of `S`.
///
/// It sets Accept-Encoding, and decodes the body of each response. It is ready when `S` is, and
/// fails as `S` does.
#[derive(Clone, Debug)]
pub struct DecodeService<S> {
    inner: S,
    decoder: Decoder,
}

impl<S> DecodeService<S> {
    pub(crate) fn new(inner: S, decoder: Decoder) -> Self {
        Self { inner, decoder }
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

impl<S, ReqB, ResB> Service<Request<ReqB>> for DecodeService<S>
where
    S: Service<Request<ReqB>, Response = Response<ResB>>,
    ResB: Body,
{
    type Response = Response<Decode<ResB>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<ReqB>) -> Self::Future {
        let headers = request.headers_mut();
        if !headers.contains_key(ACCEPT_ENCODING) && !headers.contains_key(RANGE) {
            headers.insert(ACCEPT_ENCODING, ACCEPTED.clone());
        }
        ResponseFuture::new(self.inner.call(request), self.decoder)
    }
}

/// The names of all codings whose features are on.
static ACCEPTED: LazyLock<HeaderValue> = LazyLock::new(|| {
    let names = Coding::ALL.iter().map(|coding| coding.name()).collect::<Vec<_>>().join(", ");
    let names = if names.is_empty() { "identity".to_owned() } else { names };
    HeaderValue::try_from(names).expect("names are ASCII")
});
