//! One execution environment of a function: its polls, its running invocations and its process.

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::ended_invocations::EndedInvocations;
use super::queued_invocation::{QueuedInvocation, RequestId};
use super::reply::Reply;
use super::running_invocation::{ResponseStart, RunningInvocation};
use super::running_invocations::RunningInvocations;
use super::runtime_event::RuntimeEvent;
use super::state::{InvocationStatus, may_fail_init, may_poll, may_respond, may_restore};
use crate::failure::Failure;
use crate::process::ProcessHandle;
use crate::runtime_api::Refusal;
use crate::runtime_mode::RuntimeMode;

/// An execution environment, which one runtime uses.
pub(super) struct RuntimeSlot {
    mode: RuntimeMode,
    /// The open requests of the runtime for an event.
    polls: VecDeque<oneshot::Sender<QueuedInvocation>>,
    /// The number of invocations that were sent to a poll and neither started nor returned.
    offered: usize,
    running: RunningInvocations,
    ended: EndedInvocations,
    /// When the runtime last polled, or ended an invocation.
    last_seen: Option<Instant>,
    /// Whether the runtime has polled since it was started.
    initialised: bool,
    /// The failure that the runtime has reported instead of polling.
    init_failure: Option<Failure>,
    process: Option<ProcessHandle>,
}

impl RuntimeSlot {
    pub(super) fn new(mode: RuntimeMode) -> Self {
        Self {
            mode,
            polls: VecDeque::new(),
            offered: 0,
            running: RunningInvocations::default(),
            ended: EndedInvocations::default(),
            last_seen: None,
            initialised: false,
            init_failure: None,
            process: None,
        }
    }

    /// Returns how many invocations are running.
    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    /// Returns whether a runtime polls or is at work.
    pub(super) fn has_runtime(&self) -> bool {
        self.running.len() > 0
            || self.offered > 0
            || self.polls.iter().any(|poll| !poll.is_closed())
    }

    pub(super) fn last_seen(&self) -> Option<Instant> {
        self.last_seen
    }

    pub(super) fn poll(
        &mut self,
        now: Instant,
    ) -> Result<oneshot::Receiver<QueuedInvocation>, Refusal> {
        may_poll(self.mode, self.running.len())?;
        self.initialised = true;
        self.init_failure = None;
        self.last_seen = Some(now);
        self.ended.forget_responses();
        self.polls.retain(|poll| !poll.is_closed());
        let (poll, invocation) = oneshot::channel();
        self.polls.push_back(poll);
        Ok(invocation)
    }

    /// Returns whether an invocation can be offered.
    pub(super) fn takes_offer(&self) -> bool {
        let free = match self.mode {
            RuntimeMode::Classic => self.offered + self.running.len() == 0,
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

    /// Ends an invocation. Returns its reply and how long it ran, or `None` if it is not running.
    pub(super) fn end(
        &mut self,
        id: &RequestId,
        timed_out: bool,
        now: Instant,
    ) -> Option<(Reply, Duration)> {
        let running = self.running.remove(id)?;
        let status =
            if timed_out { InvocationStatus::TimedOut } else { InvocationStatus::Responded };
        self.ended.push(RequestId::clone(id), status);
        self.last_seen = Some(now);
        Some(running.end(now))
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.running.next_deadline()
    }

    /// Returns a running invocation whose deadline has passed.
    pub(super) fn overdue(&self, now: Instant) -> Option<RequestId> {
        self.running.overdue(now)
    }

    /// Stops the process of an overdue invocation, which is the only way to end its work. A
    /// process in concurrent mode goes on, because it has other invocations.
    pub(super) fn stop_overdue_process(&self) {
        if let (RuntimeMode::Classic, Some(process)) = (self.mode, &self.process) {
            process.stop();
        }
    }

    pub(super) fn restore(&self) -> Result<(), Refusal> {
        may_restore(self.initialised)
    }

    pub(super) fn init_failed(&mut self, failure: Failure) -> Result<(), Refusal> {
        may_fail_init(self.initialised)?;
        self.init_failure = Some(failure);
        Ok(())
    }

    /// Returns the failure of a runtime that the emulator cannot start again.
    pub(super) fn permanent_failure(&self) -> Option<&Failure> {
        self.init_failure.as_ref().filter(|_| self.process.is_none())
    }

    /// Returns whether the runtime has polled since it was started, and resets it.
    pub(super) fn take_initialised(&mut self) -> bool {
        mem::take(&mut self.initialised)
    }

    pub(super) fn take_init_failure(&mut self) -> Option<Failure> {
        self.init_failure.take()
    }

    pub(super) fn process(&self) -> Option<&ProcessHandle> {
        self.process.as_ref()
    }

    pub(super) fn process_started(&mut self, process: ProcessHandle) {
        self.process = Some(process);
        self.initialised = false;
        self.init_failure = None;
    }

    /// Forgets a process that has ended. Returns the invocations that it had.
    pub(super) fn process_ended(&mut self) -> Vec<RequestId> {
        self.process = None;
        // Their connections may still look open.
        self.polls.clear();
        self.running.ids()
    }

    /// Drops all polls and running invocations.
    pub(super) fn close(&mut self) {
        self.polls.clear();
        self.running = RunningInvocations::default();
    }

    fn status(&self, id: &str, invocation_id: Option<&HeaderValue>) -> InvocationStatus {
        match self.running.get(id) {
            Some(running) => running.status(invocation_id),
            None => self.ended.status(id),
        }
    }
}
