//! The runtime of one execution environment: its polls and its running invocations.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::ended_invocations::EndedInvocations;
use super::queued_invocation::{QueuedInvocation, RequestId};
use super::running_invocation::{EndedInvocation, ResponseStart, RunningInvocation};
use super::running_invocations::RunningInvocations;
use super::runtime_event::RuntimeEvent;
use super::state::{InvocationStatus, may_fail_init, may_poll, may_respond, may_restore};
use crate::runtime_api::Refusal;
use crate::runtime_mode::RuntimeMode;

/// The slot of one runtime.
pub(super) struct RuntimeSlot {
    mode: RuntimeMode,
    /// The open requests of the runtime for an event.
    polls: VecDeque<oneshot::Sender<QueuedInvocation>>,
    /// The number of invocations that were sent to a poll and neither started nor returned.
    offered: usize,
    running: RunningInvocations,
    ended: EndedInvocations,
    /// When the runtime last polled, or ended an invocation, or was started.
    last_seen: Instant,
    /// When the runtime last ended an invocation, or was started.
    last_used: Instant,
    /// `true` once the runtime has polled.
    initialised: bool,
    /// Set while the runtime waits until it is restored from its snapshot.
    restored: Option<oneshot::Sender<()>>,
}

impl RuntimeSlot {
    pub(super) fn new(mode: RuntimeMode, now: Instant) -> Self {
        Self {
            mode,
            polls: VecDeque::new(),
            offered: 0,
            running: RunningInvocations::default(),
            ended: EndedInvocations::default(),
            last_seen: now,
            last_used: now,
            initialised: false,
            restored: None,
        }
    }

    /// Returns how many invocations are running or on their way to the runtime.
    pub(super) fn busy(&self) -> usize {
        self.offered + self.running.len()
    }

    /// Returns how many polls are open.
    pub(super) fn open_polls(&self) -> usize {
        self.polls.iter().filter(|poll| !poll.is_closed()).count()
    }

    /// Returns whether the runtime polls or is at work.
    pub(super) fn has_runtime(&self) -> bool {
        self.busy() > 0 || self.polls.iter().any(|poll| !poll.is_closed())
    }

    /// Returns whether the runtime has polled.
    pub(super) fn is_initialised(&self) -> bool {
        self.initialised
    }

    pub(super) fn last_seen(&self) -> Instant {
        self.last_seen
    }

    pub(super) fn last_used(&self) -> Instant {
        self.last_used
    }

    /// Returns whether an invocation is running.
    pub(super) fn has(&self, id: &str) -> bool {
        self.running.get(id).is_some()
    }

    /// Returns whether an invocation is running or has ended lately.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.has(id) || self.ended.status(id) != InvocationStatus::Unknown
    }

    pub(super) fn poll(
        &mut self,
        now: Instant,
    ) -> Result<oneshot::Receiver<QueuedInvocation>, Refusal> {
        may_poll(self.mode, self.running.len())?;
        self.initialised = true;
        self.last_seen = now;
        self.ended.forget_responses();
        self.polls.retain(|poll| !poll.is_closed());
        let (poll, invocation) = oneshot::channel();
        self.polls.push_back(poll);
        Ok(invocation)
    }

    /// Returns whether an invocation can be offered.
    pub(super) fn takes_offer(&self) -> bool {
        let free = match self.mode {
            RuntimeMode::Classic => self.busy() == 0,
            RuntimeMode::Concurrent => true,
        };
        free && !self.polls.is_empty()
    }

    /// Sends an invocation to the oldest open poll. Returns it if no poll is open.
    pub(super) fn offer(&mut self, mut invocation: QueuedInvocation) -> Option<QueuedInvocation> {
        while let Some(poll) = self.polls.pop_front() {
            match poll.send(invocation) {
                Ok(()) => {
                    self.offered += 1;
                    return None;
                }
                Err(returned) => invocation = returned,
            }
        }
        Some(invocation)
    }

    /// Forgets an offer whose poll was dropped.
    pub(super) fn offer_returned(&mut self) {
        self.offered -= 1;
    }

    /// Starts an invocation that was offered.
    pub(super) fn start(
        &mut self,
        invocation: QueuedInvocation,
        now: Instant,
        timeout: Duration,
    ) -> RuntimeEvent {
        self.offered -= 1;
        let id = RequestId::clone(&invocation.id);
        let (running, event) = RunningInvocation::new(invocation, self.mode, now, timeout);
        self.running.insert(id, running);
        event
    }

    pub(super) fn start_response(
        &mut self,
        id: &str,
        invocation_id: Option<&HeaderValue>,
    ) -> Result<ResponseStart, Refusal> {
        may_respond(self.mode, self.status(id, invocation_id))?;
        let running = self.running.get_mut(id).ok_or(Refusal::InvalidRequestId)?;
        Ok(running.start_response())
    }

    pub(super) fn start_stream(&mut self, id: &str) -> Option<mpsc::Sender<Bytes>> {
        self.running.get_mut(id).map(RunningInvocation::start_stream)
    }

    /// Ends an invocation. Returns `None` if it is not running.
    pub(super) fn end(
        &mut self,
        id: &RequestId,
        timed_out: bool,
        now: Instant,
    ) -> Option<EndedInvocation> {
        let running = self.running.remove(id)?;
        let status =
            if timed_out { InvocationStatus::TimedOut } else { InvocationStatus::Responded };
        self.ended.push(RequestId::clone(id), status);
        (self.last_seen, self.last_used) = (now, now);
        Some(running.end(now))
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.running.next_deadline()
    }

    /// Returns a running invocation whose deadline has passed.
    pub(super) fn overdue(&self, now: Instant) -> Option<RequestId> {
        self.running.overdue(now)
    }

    pub(super) fn may_restore(&self) -> Result<(), Refusal> {
        may_restore(self.initialised)
    }

    pub(super) fn wait_for_restore(&mut self) -> oneshot::Receiver<()> {
        let (sender, restored) = oneshot::channel();
        self.restored = Some(sender);
        restored
    }

    pub(super) fn waits_for_restore(&self) -> bool {
        self.restored.is_some()
    }

    /// Restores the runtime from its snapshot, if it waits for it.
    pub(super) fn restore(&mut self) {
        if let Some(restored) = self.restored.take() {
            // The runtime may have disconnected.
            let _ = restored.send(());
        }
    }

    pub(super) fn init_failed(&self) -> Result<(), Refusal> {
        may_fail_init(self.initialised)
    }

    pub(super) fn running(&self) -> Vec<RequestId> {
        self.running.ids()
    }

    fn status(&self, id: &str, invocation_id: Option<&HeaderValue>) -> InvocationStatus {
        match self.running.get(id) {
            Some(running) => running.status(invocation_id),
            None => self.ended.status(id),
        }
    }
}
