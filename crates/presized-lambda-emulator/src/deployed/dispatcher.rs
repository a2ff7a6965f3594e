//! The path of an invocation through the queue and the environments of a function.

mod follow_up;
mod scaling;

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::environments::{EnvironmentId, Environments};
use super::queue::InvocationQueue;
use super::queued_invocation::{QueuedInvocation, RequestId};
use super::reply::InvocationEnd;
use super::running_invocation::ResponseStart;
use super::runtime_event::RuntimeEvent;
use super::runtime_source::{ConnectionId, RuntimeSource};
use crate::failed_event::FailedEvent;
use crate::failure::Failure;
use crate::fault::EnvironmentFault;
use crate::log_tail::LogTail;
use crate::runtime_api::Refusal;
use crate::runtime_mode::RuntimeMode;
use crate::{Function, Stats};

/// Connects the queue and the environments of a function, which do not know each other.
pub(super) struct Dispatcher {
    function_name: String,
    options: Function,
    queue: InvocationQueue,
    environments: Environments,
    /// `true` if the emulator starts environments when invocations need them.
    scales: bool,
    /// The failure that an external runtime has reported instead of polling.
    init_failure: Option<Failure>,
    /// The number of calls that are refused next.
    throttle: u32,
    stats: Stats,
    /// The events whose last delivery failed, until they are reported.
    failed_events: Vec<FailedEvent>,
    closed: bool,
}

/// The error for a throttled call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Throttled {
    /// The concurrency of the account is used up.
    Account,
    /// The concurrency of the function is used up, or a test has asked for it.
    Function,
}

impl Dispatcher {
    pub(super) fn new(function_name: String, options: Function) -> Self {
        Self {
            function_name,
            queue: InvocationQueue::default(),
            environments: Environments::new(options.clone()),
            options,
            scales: false,
            init_failure: None,
            throttle: 0,
            stats: Stats::default(),
            failed_events: Vec::new(),
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

    /// Queues an invocation, unless the call is throttled.
    pub(super) fn invoke(&mut self, invocation: QueuedInvocation) -> Result<(), Throttled> {
        self.admit(!invocation.reply.is_awaited())?;
        if self.closed {
            return Ok(());
        }
        self.stats.invoked += 1;
        match self.init_failure.clone() {
            Some(failure) => self.end_queued(invocation, InvocationEnd::Failed(failure), None),
            None => {
                self.queue.push(invocation);
                self.dispatch();
            }
        }
        Ok(())
    }

    /// Returns whether a queued invocation waits for something that happens at a known time.
    pub(super) fn waits_for_time(&self, now: Instant) -> bool {
        !self.environments.has_runtime() || self.environments.next_change(now).is_some()
    }

    pub(super) fn has_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    pub(super) fn connection_closed(&mut self, connection: ConnectionId) {
        self.environments.connection_closed(connection);
    }

    /// Takes a request for the next event. The receiver gets an invocation to start.
    pub(super) fn poll(
        &mut self,
        source: RuntimeSource,
        now: Instant,
    ) -> Result<(EnvironmentId, oneshot::Receiver<QueuedInvocation>), Refusal> {
        if self.closed {
            return Err(Refusal::Internal);
        }
        let id = self.environments.polled_by(source, now).ok_or(Refusal::Internal)?;
        let environment = self.environments.get_mut(id).ok_or(Refusal::Internal)?;
        let invocation = environment.slot.poll(now)?;
        self.init_failure = None;
        self.dispatch();
        self.environments.retire_idle();
        Ok((id, invocation))
    }

    /// Starts an invocation. Returns `None` if its environment has ended, which takes it back.
    pub(super) fn start(
        &mut self,
        id: EnvironmentId,
        invocation: QueuedInvocation,
        now: Instant,
    ) -> Option<RuntimeEvent> {
        if self.closed {
            return None;
        }
        let Some(environment) = self.environments.get_mut(id) else {
            self.take_back(id, invocation);
            return None;
        };
        self.stats.started += 1;
        environment.log.start(&invocation);
        Some(environment.slot.start(invocation, now, self.options.timeout))
    }

    pub(super) fn take_back(&mut self, id: EnvironmentId, invocation: QueuedInvocation) {
        if !self.closed {
            if let Some(environment) = self.environments.get_mut(id) {
                environment.slot.offer_returned();
                environment.end_if_done();
            }
            self.queue.put_back(invocation);
            self.dispatch();
        }
    }

    pub(super) fn start_response(
        &mut self,
        source: RuntimeSource,
        id: &str,
        invocation_id: Option<&HeaderValue>,
    ) -> Result<(EnvironmentId, ResponseStart), Refusal> {
        let of = self.environments.of_response(source, id).ok_or(Refusal::InvalidRequestId)?;
        let environment = self.environments.get_mut(of).ok_or(Refusal::InvalidRequestId)?;
        Ok((of, environment.slot.start_response(id, invocation_id)?))
    }

    pub(super) fn start_stream(
        &mut self,
        environment: EnvironmentId,
        id: &RequestId,
    ) -> Option<mpsc::Sender<Bytes>> {
        self.environments.get_mut(environment)?.slot.start_stream(id)
    }

    pub(super) fn end(
        &mut self,
        environment: EnvironmentId,
        id: &RequestId,
        end: InvocationEnd,
        now: Instant,
    ) -> bool {
        let Some(environment) = self.environments.get_mut(environment) else { return false };
        let Some(ended) = environment.slot.end(id, end.is_timeout(), now) else { return false };
        let log = environment.log.end(id, ended.took, self.options.memory_mb);
        environment.end_if_done();
        if let Some(EnvironmentFault::Freeze(time)) = ended.fault {
            environment.freeze(time, now);
        }
        self.count(&end);
        if let Some(again) = ended.again {
            self.follow_up(*again, &end, now);
        }
        ended.reply.send(end, log);
        self.dispatch();
        true
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.environments.next_deadline()
    }

    /// Ends the invocations that are overdue, and returns when to look again.
    pub(super) fn end_overdue(&mut self, now: Instant) -> Option<Instant> {
        while let Some((environment, id)) = self.environments.overdue(now) {
            let failure = Failure::timed_out(&id, self.options.timeout);
            self.end(environment, &id, InvocationEnd::TimedOut(failure), now);
            // It is the only way to end the work of the handler. A runtime in concurrent mode goes
            // on, because it has other invocations.
            if self.options.mode() == RuntimeMode::Classic {
                self.environments.get_mut(environment).into_iter().for_each(|late| late.kill());
            }
        }
        let next_event = self.queue.queue_due(now);
        self.dispatch();
        let timeouts = self.stats.timeouts;
        let unserved = self.end_unserved(now);
        if self.stats.timeouts > timeouts {
            self.environments.kill_stuck(self.options.init_timeout, now);
        }
        let next_change = self.environments.next_change(now).filter(|_| !self.queue.is_empty());
        [self.next_deadline(), unserved, next_change, next_event].into_iter().flatten().min()
    }

    pub(super) fn log(&mut self, environment: EnvironmentId, output: &[u8]) {
        if let Some(environment) = self.environments.get_mut(environment) {
            environment.log.write(output);
        }
    }

    pub(super) fn wants_log(&self, environment: EnvironmentId, id: &RequestId) -> bool {
        self.environments.get(environment).is_some_and(|found| found.log.is_wanted(id))
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
        self.queue = InvocationQueue::default();
        self.environments.clear();
    }

    /// Checks whether the function takes one more call. An event waits in the queue if the
    /// concurrency is used up.
    fn admit(&mut self, is_event: bool) -> Result<(), Throttled> {
        let is_full = || self.queue.calls() + self.environments.busy() >= self.limit();
        let throttled = match self.options.reserved_concurrency {
            _ if self.throttle > 0 => Throttled::Function,
            _ if is_event || !is_full() => return Ok(()),
            Some(_) => Throttled::Function,
            None => Throttled::Account,
        };
        self.throttle = self.throttle.saturating_sub(1);
        self.stats.throttled += 1;
        Err(throttled)
    }

    /// Returns how many invocations may run at a time.
    fn limit(&self) -> usize {
        self.options.reserved_concurrency.unwrap_or(ACCOUNT_CONCURRENCY)
    }

    /// Offers queued invocations to the environments for as long as one takes them.
    fn dispatch(&mut self) {
        let (mut busy, now) = (self.environments.busy(), Instant::now());
        while !self.queue.is_empty() && busy < self.limit() {
            let Some(id) = self.environments.for_next_invocation(now) else {
                self.environments.restore(self.queue.len());
                return;
            };
            let Some(environment) = self.environments.get_mut(id) else { return };
            let Some(invocation) = self.queue.pop() else { return };
            match environment.slot.offer(invocation) {
                None => busy += 1,
                Some(invocation) => self.queue.put_back(invocation),
            }
        }
    }

    /// Ends the calls that have waited too long without a runtime, and returns when the next one
    /// is due. An invocation without a waiting caller stays queued.
    fn end_unserved(&mut self, now: Instant) -> Option<Instant> {
        let patience = self.options.init_timeout;
        while !self.environments.has_runtime() {
            let queued_at = self.queue.oldest_call()?;
            let since = self.environments.last_seen().max(Some(queued_at))?;
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
            let stuck = self.environments.starting();
            let log = stuck.and_then(|stuck| stuck.log.end_queued(&invocation));
            self.end_queued(invocation, InvocationEnd::TimedOut(failure), log);
        }
        None
    }

    /// Ends an invocation that no runtime has started.
    fn end_queued(
        &mut self,
        invocation: QueuedInvocation,
        end: InvocationEnd,
        log: Option<LogTail>,
    ) {
        self.count(&end);
        if invocation.outlives_its_end() {
            self.follow_up(invocation.again(), &end, Instant::now());
        }
        let log = log.or_else(|| invocation.wants_log.then(LogTail::default));
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
const ACCOUNT_CONCURRENCY: usize = 1000;
