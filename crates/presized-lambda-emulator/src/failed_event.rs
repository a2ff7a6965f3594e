//! An asynchronous event whose last delivery failed.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;

/// An event of type `Event` that was not delivered again after its last failure.
///
/// It has what Lambda sends to a
/// [destination](https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html)
/// or a dead-letter queue.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedEvent {
    /// The request id of the call, which all deliveries have.
    pub request_id: String,
    /// The event.
    pub payload: Bytes,
    /// The number of deliveries.
    pub attempts: u32,
    /// The type of the last error, such as `Sandbox.Timedout`.
    pub error_type: String,
    /// The last error report in JSON.
    pub report: Bytes,
}

/// The function that gets failed events.
#[derive(Clone)]
pub(crate) struct OnFailure(pub(crate) Arc<dyn Fn(FailedEvent) + Send + Sync>);

impl OnFailure {
    /// Reports an event. A panic is only logged: it would end the task that ends invocations.
    pub(crate) fn report(&self, event: FailedEvent) {
        let request_id = event.request_id.clone();
        if catch_unwind(AssertUnwindSafe(|| (self.0)(event))).is_err() {
            tracing::error!(request_id, "on_failure panicked");
        }
    }
}

impl fmt::Debug for OnFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnFailure")
    }
}
