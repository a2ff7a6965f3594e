//! The transport of a client.

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;

use crate::BoxError;

/// Sends requests to a service. Signatures, retries and timeouts are part of the transport.
///
/// Every closure that takes a request and returns a future of a response is a transport.
pub trait Transport {
    /// The body of a response, with any error.
    type Body: Body<Error: Into<BoxError>>;

    /// The error of a request without a response.
    type Error: Into<BoxError>;

    /// Sends a request. Returns the response when its head has arrived.
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
