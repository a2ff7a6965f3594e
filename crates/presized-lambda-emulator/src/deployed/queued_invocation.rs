//! An invocation that waits for a runtime.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use tokio::time::Instant;

use super::reply::Reply;

/// The request id of an invocation.
pub(crate) type RequestId = Arc<str>;

/// An invocation that no runtime has started.
pub(crate) struct QueuedInvocation {
    pub(crate) id: RequestId,
    pub(crate) version: String,
    pub(crate) queued_at: Instant,
    pub(crate) event: Bytes,
    /// The headers that the runtime gets with the event.
    pub(crate) headers: HeaderMap,
    /// Whether the caller takes the response while it is written.
    pub(crate) takes_stream: bool,
    pub(crate) wants_log: bool,
    pub(crate) reply: Reply,
}
