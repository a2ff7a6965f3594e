//! What the clients of all services are made with.

use bytes::Bytes;
use http::{Request, Response};
use presized::payload::Reader;

use super::{SdkError, Transport};

/// Where a service is, how to get there, and how much of an answer to take.
#[derive(Clone, Debug)]
pub struct Config<T> {
    pub transport: T,
    /// Scheme and authority, and a path if there is one, without a slash at the end.
    pub endpoint: String,
    /// Most bytes of a payload, inclusive.
    pub limit: u64,
    /// What payloads share: a pool, a budget, a history.
    pub reader: Reader,
}

impl<T> Config<T> {
    /// A configuration under which payloads share nothing.
    pub fn new(transport: T, endpoint: impl Into<String>, limit: u64) -> Self {
        Self { transport, endpoint: endpoint.into(), limit, reader: Reader::new() }
    }

    /// Reads payloads with `reader`.
    pub fn reader(mut self, reader: Reader) -> Self {
        self.reader = reader;
        self
    }
}

impl<T: Transport> Config<T> {
    /// The response to a request, of any status.
    pub async fn send<E>(&self, request: Request<Bytes>) -> Result<Response<T::Body>, SdkError<E>> {
        self.transport.send(request).await.map_err(|error| SdkError::Send(error.into()))
    }
}
