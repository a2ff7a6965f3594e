//! What carries requests out and responses in.

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;

use super::BoxError;

/// A connection to a service. Signatures, retries and timeouts are below it.
///
/// Any closure that takes a request and gives a future of a response is one.
pub trait Transport {
    /// The body of a response, with whatever error it has.
    type Body: Body<Error: Into<BoxError>>;

    /// Why there is no response.
    type Error: Into<BoxError>;

    /// Sends a request, and gives the response once its head is there.
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<Self::Body>, Self::Error>> + Send;
}

impl<T, F, B, E> Transport for T
where
    T: Fn(Request<Bytes>) -> F,
    F: Future<Output = Result<Response<B>, E>> + Send,
    B: Body<Error: Into<BoxError>>,
    E: Into<BoxError>,
{
    type Body = B;
    type Error = E;

    fn send(&self, request: Request<Bytes>) -> impl Future<Output = Result<Response<B>, E>> + Send {
        self(request)
    }
}
