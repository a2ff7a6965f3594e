//! An invocation that waits for a runtime.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use tokio::time::Instant;

use super::reply::Reply;
use crate::fault::EnvironmentFault;

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
    /// The caller takes the response while it is written.
    pub(crate) takes_stream: bool,
    pub(crate) wants_log: bool,
    pub(crate) reply: Reply,
    /// The number of further deliveries that a fault has ordered.
    pub(crate) duplicates: u32,
    /// The number of further deliveries after a failure, or `None` if a failure is ignored.
    pub(crate) retries: Option<u32>,
    /// The number of earlier deliveries.
    pub(crate) attempts: u32,
    /// The fault of the environment that a test has ordered.
    pub(crate) fault: Option<EnvironmentFault>,
}

impl QueuedInvocation {
    /// Returns whether the event may be delivered again, or its failure is reported.
    pub(super) fn outlives_its_end(&self) -> bool {
        self.duplicates > 0 || self.retries.is_some()
    }

    /// Returns a copy whose response is discarded.
    pub(super) fn again(&self) -> Self {
        Self {
            id: RequestId::clone(&self.id),
            version: self.version.clone(),
            queued_at: self.queued_at,
            event: self.event.clone(),
            headers: self.headers.clone(),
            takes_stream: false,
            wants_log: false,
            reply: Reply::Discarded,
            duplicates: self.duplicates,
            retries: self.retries,
            attempts: self.attempts,
            fault: None,
        }
    }
}
