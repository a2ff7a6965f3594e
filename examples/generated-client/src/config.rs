//! The configuration of a client.

use bytes::Bytes;
use http::{Request, Response};
use presized::Reader;

use crate::{SdkError, Transport};

/// The address of a service, the transport to it, and how responses are read.
#[derive(Clone, Debug)]
pub struct Config<T> {
    pub transport: T,
    /// The scheme, the authority and an optional path, without a slash at the end.
    pub endpoint: String,
    /// How payloads are read: the limit, and the pool, budget and history that payloads share.
    pub reader: Reader,
}

impl<T> Config<T> {
    /// Creates a configuration. `reader` is the limit of a payload in bytes, inclusive, or a
    /// [`Reader`].
    pub fn new(transport: T, endpoint: impl Into<String>, reader: impl Into<Reader>) -> Self {
        Self { transport, endpoint: endpoint.into(), reader: reader.into() }
    }
}

impl<T: Transport> Config<T> {
    /// Sends a request and returns the response, of any status.
    pub async fn send<E>(&self, request: Request<Bytes>) -> Result<Response<T::Body>, SdkError<E>> {
        self.transport.send(request).await.map_err(|error| SdkError::Send(error.into()))
    }
}
