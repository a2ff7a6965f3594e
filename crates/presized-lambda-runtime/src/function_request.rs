//! The request of a tower service.

use bytes::Bytes;

use super::Context;

/// The request with which a [`service`](super::service) is called.
#[derive(Debug)]
#[non_exhaustive]
pub struct FunctionRequest {
    /// The payload that the caller sent.
    pub event: Bytes,
    /// The context of the invocation.
    pub context: Context,
}

impl FunctionRequest {
    /// Creates a request, as a test of a service needs it.
    pub fn new(event: Bytes, context: Context) -> Self {
        Self { event, context }
    }
}
