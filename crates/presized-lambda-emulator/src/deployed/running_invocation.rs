//! An invocation that a runtime is at work on.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::queued_invocation::QueuedInvocation;
use super::reply::Reply;
use super::runtime_event::RuntimeEvent;
use super::state::InvocationStatus;
use crate::fault::EnvironmentFault;
use crate::ids;
use crate::runtime_mode::RuntimeMode;

/// A running invocation.
pub(super) struct RunningInvocation {
    /// The id of this attempt. Only a concurrent runtime gets one.
    invocation_id: Option<HeaderValue>,
    started: Instant,
    /// `None` if the timeout is too long for the clock.
    deadline: Option<Instant>,
    /// Set while a response is being read. Its reader notices when this is dropped.
    response: Option<oneshot::Sender<()>>,
    takes_stream: bool,
    reply: Reply,
    /// A copy of the invocation if its event may be delivered again.
    again: Option<Box<QueuedInvocation>>,
    fault: Option<EnvironmentFault>,
}

/// An invocation that has ended.
pub(super) struct EndedInvocation {
    pub(super) reply: Reply,
    /// The time from its start to its end.
    pub(super) took: Duration,
    /// A copy of the invocation if its event may be delivered again.
    pub(super) again: Option<Box<QueuedInvocation>>,
    /// The fault of the environment that a test has ordered.
    pub(super) fault: Option<EnvironmentFault>,
}

/// A running invocation as its response sees it.
pub(super) struct ResponseStart {
    /// The caller takes the response while it is written.
    pub(super) takes_stream: bool,
    /// Fails when the invocation ends.
    pub(super) invocation_ended: oneshot::Receiver<()>,
}

impl RunningInvocation {
    pub(super) fn new(
        invocation: QueuedInvocation,
        mode: RuntimeMode,
        now: Instant,
        timeout: Duration,
    ) -> (Self, RuntimeEvent) {
        let invocation_id = match mode {
            RuntimeMode::Classic => None,
            RuntimeMode::Concurrent => HeaderValue::try_from(ids::uuid()).ok(),
        };
        let again = invocation.outlives_its_end().then(|| Box::new(invocation.again()));
        let event = RuntimeEvent {
            headers: invocation.headers,
            timeout,
            invocation_id: invocation_id.clone(),
            payload: invocation.event,
        };
        let running = Self {
            invocation_id,
            started: now,
            deadline: now.checked_add(timeout),
            response: None,
            takes_stream: invocation.takes_stream,
            reply: invocation.reply,
            again,
            fault: invocation.fault,
        };
        (running, event)
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns the status for a response that names `invocation_id`. A response that names none
    /// is taken for the current attempt.
    pub(super) fn status(&self, invocation_id: Option<&HeaderValue>) -> InvocationStatus {
        match (&self.invocation_id, invocation_id) {
            (Some(current), Some(named)) if current != named => InvocationStatus::OtherAttempt,
            _ if self.response.is_some() => InvocationStatus::Responding,
            _ => InvocationStatus::Running,
        }
    }

    pub(super) fn start_response(&mut self) -> ResponseStart {
        let (response, invocation_ended) = oneshot::channel();
        self.response = Some(response);
        ResponseStart { takes_stream: self.takes_stream, invocation_ended }
    }

    pub(super) fn start_stream(&mut self) -> mpsc::Sender<Bytes> {
        self.reply.start_stream()
    }

    pub(super) fn end(self, now: Instant) -> EndedInvocation {
        let took = now.saturating_duration_since(self.started);
        EndedInvocation { reply: self.reply, took, again: self.again, fault: self.fault }
    }
}
