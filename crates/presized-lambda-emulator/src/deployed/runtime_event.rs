//! The event of a started invocation.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};

/// An event, as the Runtime API sends it to a runtime.
pub(crate) struct RuntimeEvent {
    pub(crate) headers: HeaderMap,
    pub(crate) timeout: Duration,
    /// The id of the attempt. Only a concurrent runtime gets one.
    pub(crate) invocation_id: Option<HeaderValue>,
    pub(crate) payload: Bytes,
}
