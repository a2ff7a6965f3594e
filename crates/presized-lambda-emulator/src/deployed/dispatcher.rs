//! The path of an invocation through the queue, the runtime slot and the log of a function.

use std::mem;

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::function_log::FunctionLog;
use super::queue::InvocationQueue;
use super::queued_invocation::{QueuedInvocation, RequestId};
use super::reply::InvocationEnd;
use super::running_invocation::ResponseStart;
use super::runtime_event::RuntimeEvent;
use super::slot::RuntimeSlot;
use crate::failure::Failure;
use crate::process::ProcessHandle;
use crate::runtime_api::Refusal;
use crate::{Function, Stats};

/// Connects the three parts of a function, which do not know each other.
pub(super) struct Dispatcher {
    function_name: String,
    options: Function,
    queue: InvocationQueue,
    slot: RuntimeSlot,
    log: FunctionLog,
    /// The number of calls that are refused next.
    throttle: u32,
    stats: Stats,
    closed: bool,
}

/// The error for a throttled call: one above the concurrency limit, or refused on request.
#[derive(Debug)]
pub(crate) struct Throttled;

impl Dispatcher {
    pub(super) fn new(function_name: String, options: Function) -> Self {
        Self {
            function_name,
            queue: InvocationQueue::default(),
            slot: RuntimeSlot::new(options.mode()),
            log: FunctionLog::default(),
            options,
            throttle: 0,
            stats: Stats::default(),
            closed: false,
        }
    }

    pub(super) fn stats(&self) -> Stats {
        self.stats
    }

    pub(super) fn count_rejected(&mut self) {
        self.stats.rejected += 1;
    }

    pub(super) fn throttle(&mut self, calls: u32) {
        self.throttle = calls;
    }

    pub(super) fn admit(&mut self) -> Result<(), Throttled> {
        let full = self.queue.len() + self.slot.running() >= CONCURRENT_CALLS;
        if self.throttle == 0 && !full {
            return Ok(());
        }
        self.throttle = self.throttle.saturating_sub(1);
        self.stats.throttled += 1;
        Err(Throttled)
    }

    pub(super) fn invoke(&mut self, invocation: QueuedInvocation) {
        if self.closed {
            return;
        }
        self.stats.invoked += 1;
        match self.slot.permanent_failure().cloned() {
            Some(failure) => self.end_queued(invocation, InvocationEnd::Failed(failure)),
            None => {
                self.queue.push(invocation);
                self.dispatch();
            }
        }
    }

    /// Returns whether an invocation waits and no runtime polls or is at work.
    pub(super) fn needs_runtime(&self) -> bool {
        !self.queue.is_empty() && !self.slot.has_runtime()
    }

    pub(super) fn has_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Takes a request for the next event. The receiver gets an invocation to start.
    pub(super) fn poll(
        &mut self,
        now: Instant,
    ) -> Result<oneshot::Receiver<QueuedInvocation>, Refusal> {
        if self.closed {
            return Err(Refusal::Internal);
        }
        let invocation = self.slot.poll(now)?;
        self.dispatch();
        Ok(invocation)
    }

    pub(super) fn start(
        &mut self,
        invocation: QueuedInvocation,
        now: Instant,
    ) -> Option<RuntimeEvent> {
        if self.closed {
            return None;
        }
        self.stats.started += 1;
        self.log.start(&invocation);
        Some(self.slot.start(invocation, now, self.options.timeout))
    }

    pub(super) fn take_back(&mut self, invocation: QueuedInvocation) {
        if !self.closed {
            self.slot.offer_returned();
            self.queue.put_back(invocation);
            self.dispatch();
        }
    }

    pub(super) fn restore(&self) -> Result<(), Refusal> {
        self.slot.restore()
    }

    pub(super) fn init_failed(&mut self, failure: Failure) -> Result<(), Refusal> {
        self.slot.init_failed(failure.clone())?;
        self.fail_queue(|_| failure.clone());
        Ok(())
    }

    pub(super) fn start_response(
        &mut self,
        id: &str,
        invocation_id: Option<&HeaderValue>,
    ) -> Result<ResponseStart, Refusal> {
        self.slot.start_response(id, invocation_id)
    }

    pub(super) fn start_stream(&mut self, id: &RequestId) -> Option<mpsc::Sender<Bytes>> {
        self.slot.start_stream(id)
    }

    pub(super) fn end(&mut self, id: &RequestId, end: InvocationEnd, now: Instant) -> bool {
        let Some((reply, took)) = self.slot.end(id, end.is_timeout(), now) else { return false };
        self.count(&end);
        let log = self.log.end(id, took, self.options.memory_mb);
        reply.send(end, log);
        self.dispatch();
        true
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.slot.next_deadline()
    }

    pub(super) fn end_overdue(&mut self, now: Instant) -> Option<Instant> {
        while let Some(id) = self.slot.overdue(now) {
            let failure = Failure::timed_out(&id, self.options.timeout);
            self.end(&id, InvocationEnd::TimedOut(failure), now);
            self.slot.stop_overdue_process();
        }
        let unserved = self.end_unserved(now);
        [self.next_deadline(), unserved].into_iter().flatten().min()
    }

    pub(super) fn process(&self) -> Option<&ProcessHandle> {
        self.slot.process()
    }

    pub(super) fn process_started(&mut self, process: ProcessHandle) {
        self.slot.process_started(process);
    }

    /// Fails the running invocations. The queued ones wait for the next process, unless this one
    /// ended before its first poll.
    pub(super) fn process_ended(&mut self, status: &str, now: Instant) {
        for id in self.slot.process_ended() {
            let failure = Failure::exited(&id, status);
            self.end(&id, InvocationEnd::Failed(failure), now);
        }
        if !self.slot.take_initialised() {
            let reported = self.slot.take_init_failure();
            self.fail_queue(|id| reported.clone().unwrap_or_else(|| Failure::exited(id, status)));
        }
    }

    pub(super) fn log(&mut self, output: &[u8]) {
        self.log.write(output);
    }

    pub(super) fn wants_log(&self, id: &RequestId) -> bool {
        self.log.is_wanted(id)
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
        self.queue = InvocationQueue::default();
        self.slot.close();
    }

    /// Offers queued invocations to the slot for as long as it takes them.
    fn dispatch(&mut self) {
        while self.slot.takes_offer() {
            let Some(invocation) = self.queue.pop() else { return };
            if let Some(invocation) = self.slot.offer(invocation) {
                self.queue.put_back(invocation);
            }
        }
    }

    /// Ends the calls that have waited too long without a runtime, and returns when the next one
    /// is due. An invocation without a waiting caller stays queued.
    fn end_unserved(&mut self, now: Instant) -> Option<Instant> {
        let patience = self.options.init_timeout;
        while !self.slot.has_runtime() {
            let queued_at = self.queue.oldest_call()?;
            let since = self.slot.last_seen().max(Some(queued_at))?;
            let due = since.checked_add(patience)?;
            if due > now {
                return Some(due);
            }
            let invocation = self.queue.remove_oldest_call()?;
            tracing::warn!(
                function = self.function_name,
                "invocation timed out without a runtime: attach a handler or spawn a process"
            );
            let failure = Failure::timed_out(&invocation.id, patience);
            self.end_queued(invocation, InvocationEnd::TimedOut(failure));
        }
        None
    }

    fn fail_queue(&mut self, failure: impl Fn(&str) -> Failure) {
        let mut queue = mem::take(&mut self.queue);
        while let Some(invocation) = queue.pop() {
            let failure = failure(&invocation.id);
            self.end_queued(invocation, InvocationEnd::Failed(failure));
        }
    }

    /// Ends an invocation that no runtime has started.
    fn end_queued(&mut self, invocation: QueuedInvocation, end: InvocationEnd) {
        self.count(&end);
        let log = self.log.end_queued(&invocation);
        invocation.reply.send(end, log);
    }

    fn count(&mut self, end: &InvocationEnd) {
        let counter = match end {
            InvocationEnd::Response { .. } | InvocationEnd::Streamed => &mut self.stats.responses,
            InvocationEnd::Failed(_) => &mut self.stats.errors,
            InvocationEnd::TimedOut(_) => &mut self.stats.timeouts,
        };
        *counter += 1;
    }
}

/// The number of invocations of an AWS account that run at a time by default
/// (<https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>).
const CONCURRENT_CALLS: usize = 1000;
