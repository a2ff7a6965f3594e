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
    /// The invocation that was offered.
    offered: Option<QueuedInvocation>,
}

impl EventPoll {
    pub(super) fn new(
        function: Arc<Deployed>,
        environment: EnvironmentId,
        invocation: oneshot::Receiver<QueuedInvocation>,
    ) -> Self {
        Self { function, environment, invocation, offered: None }
    }

    /// Waits for an invocation, and returns the length of its event.
    pub(crate) async fn event_length(&mut self) -> Result<u64, Refusal> {
        let invocation = (&mut self.invocation).await.map_err(|_| Refusal::Internal)?;
        Ok(self.offered.insert(invocation).event.len() as u64)
    }

    /// Waits for an invocation, and starts it.
    pub(crate) async fn event(mut self) -> Result<RuntimeEvent, Refusal> {
        if self.offered.is_none() {
            self.event_length().await?;
        }
        let invocation = self.offered.take().ok_or(Refusal::Internal)?;
        self.function.start(self.environment, invocation).ok_or(Refusal::Internal)
    }

    /// Returns the event of an invocation, which goes to the next poll.
    pub(crate) fn lose(self) -> Result<RuntimeEvent, Refusal> {
        let invocation = self.offered.as_ref().ok_or(Refusal::Internal)?;
        Ok(RuntimeEvent {
            headers: invocation.headers.clone(),
            timeout: self.function.options().timeout,
            invocation_id: None,
            payload: invocation.event.clone(),
        })
    }
}

impl Drop for EventPoll {
    fn drop(&mut self) {
        self.invocation.close();
        let offered = self.offered.take().or_else(|| self.invocation.try_recv().ok());
        if let Some(invocation) = offered {
            self.function.take_back(self.environment, invocation);
        }
    }
}
