//! The request of a runtime for the next event.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::Deployed;
use super::environments::EnvironmentId;
use super::queued_invocation::QueuedInvocation;
use super::runtime_event::RuntimeEvent;
use crate::runtime_api::Refusal;

/// A request for the next event.
///
/// If it is dropped, an invocation that was offered to it is queued again.
pub(crate) struct EventPoll {
    function: Arc<Deployed>,
    environment: EnvironmentId,
    invocation: oneshot::Receiver<QueuedInvocation>,
}

impl EventPoll {
    pub(super) fn new(
        function: Arc<Deployed>,
        environment: EnvironmentId,
        invocation: oneshot::Receiver<QueuedInvocation>,
    ) -> Self {
        Self { function, environment, invocation }
    }

    /// Waits for an invocation, and starts it.
    pub(crate) async fn event(mut self) -> Result<RuntimeEvent, Refusal> {
        let invocation = (&mut self.invocation).await.map_err(|_| Refusal::Internal)?;
        self.function.start(self.environment, invocation).ok_or(Refusal::Internal)
    }
}

impl Drop for EventPoll {
    fn drop(&mut self) {
        self.invocation.close();
        if let Ok(invocation) = self.invocation.try_recv() {
            self.function.take_back(self.environment, invocation);
        }
    }
}
