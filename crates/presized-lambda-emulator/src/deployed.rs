//! A function that the emulator serves, shared by the callers, the runtimes and the timer.
//!
//! `Deployed` holds the lock and wakes tasks. [`Dispatcher`] says what happens to an invocation.

mod dispatcher;
mod ended_invocations;
mod environment;
mod environments;
mod event_poll;
mod function_log;
mod queue;
mod queued_invocation;
mod reply;
mod response_guard;
mod running_invocation;
mod running_invocations;
mod runtime_event;
mod runtime_source;
mod slot;
mod state;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::HeaderValue;
use presized::{BufferPool, LengthHistory, Reader};
use presized_lambda_runtime::FunctionConfig;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep, timeout_at};

use self::dispatcher::Dispatcher;
use self::event_poll::EventPoll;
use self::running_invocation::ResponseStart;
use self::runtime_source::ConnectionId;
use crate::environment::RuntimeHandle;
use crate::failure::Failure;
use crate::fault::{EnvironmentFault, FaultScript};
use crate::names::{LATEST, LOG_STREAM, log_group};
use crate::runtime_api::Refusal;
use crate::{Function, Stats};

pub(crate) use self::dispatcher::Throttled;
pub(crate) use self::environments::EnvironmentId;
pub(crate) use self::queued_invocation::{QueuedInvocation, RequestId};
pub(crate) use self::reply::{InvocationEnd, Reply};
pub(crate) use self::response_guard::ResponseGuard;
pub(crate) use self::runtime_event::RuntimeEvent;
pub(crate) use self::runtime_source::{RuntimeConnection, RuntimeSource};

/// A function that the emulator serves.
pub(crate) struct Deployed {
    name: String,
    options: Function,
    pool: BufferPool,
    event_lengths: LengthHistory,
    response_lengths: LengthHistory,
    faults: FaultScript,
    /// `true` once `attach` or `spawn` has given the function its runtimes.
    claimed: AtomicBool,
    /// Signals that an invocation may need another environment.
    environment_needed: Notify,
    /// Signals that the next deadline may be earlier than the one `expire` waits for.
    deadline_changed: Notify,
    dispatcher: Mutex<Dispatcher>,
}

impl Deployed {
    pub(crate) fn new(name: String, options: Function, pool: BufferPool) -> Self {
        Self {
            dispatcher: Mutex::new(Dispatcher::new(name.clone(), options.clone())),
            name,
            options,
            pool,
            event_lengths: LengthHistory::new(),
            response_lengths: LengthHistory::new(),
            faults: FaultScript::default(),
            claimed: AtomicBool::new(false),
            environment_needed: Notify::new(),
            deadline_changed: Notify::new(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn options(&self) -> &Function {
        &self.options
    }

    /// Returns the configuration that a handler finds in its context.
    pub(crate) fn config(&self) -> FunctionConfig {
        let mut config = FunctionConfig::default();
        config.name = Some(self.name.clone());
        config.version = Some(LATEST.to_owned());
        config.memory_mib = Some(self.options.memory_mb);
        config.log_group = Some(log_group(&self.name));
        config.log_stream = Some(LOG_STREAM.to_owned());
        config
    }

    /// Returns a reader of the events that callers send.
    pub(crate) fn event_reader(&self, limit: u64) -> Reader {
        self.reader(limit).history(&self.event_lengths)
    }

    /// Returns a reader of the responses and error reports that runtimes send.
    pub(crate) fn response_reader(&self, limit: u64) -> Reader {
        self.reader(limit).history(&self.response_lengths)
    }

    /// Returns a reader that uses the buffer pool of the emulator.
    pub(crate) fn reader(&self, limit: u64) -> Reader {
        Reader::new(limit).pool(&self.pool)
    }

    pub(crate) fn faults(&self) -> &FaultScript {
        &self.faults
    }

    pub(crate) fn pool(&self) -> &BufferPool {
        &self.pool
    }

    /// Reserves the function for one handler or command. Returns false if it is reserved already.
    pub(crate) fn claim(&self) -> bool {
        let is_free = !self.claimed.swap(true, Relaxed);
        if is_free {
            self.lock().set_scales(true);
        }
        is_free
    }

    /// Undoes [`claim`](Self::claim).
    pub(crate) fn release(&self) {
        self.lock().set_scales(false);
        self.claimed.store(false, Relaxed);
    }

    pub(crate) fn stats(&self) -> Stats {
        self.lock().stats()
    }

    /// Refuses the next `calls` calls.
    pub(crate) fn throttle(&self, calls: u32) {
        self.lock().throttle(calls);
    }

    /// Counts a refused request of a runtime.
    pub(crate) fn count_rejected(&self) {
        self.lock().count_rejected();
    }

    /// Queues an invocation, unless the call is throttled.
    pub(crate) fn invoke(&self, invocation: QueuedInvocation) -> Result<(), Throttled> {
        self.update(|dispatcher| dispatcher.invoke(invocation))
    }

    /// Takes a request of a runtime for the next event.
    pub(crate) fn poll(self: &Arc<Self>, source: RuntimeSource) -> Result<EventPoll, Refusal> {
        let (environment, invocation) =
            self.update(|dispatcher| dispatcher.poll(source, Instant::now()))?;
        Ok(EventPoll::new(Arc::clone(self), environment, invocation))
    }

    /// Waits until a runtime is restored from its snapshot.
    pub(crate) async fn restore(&self, source: RuntimeSource) -> Result<(), Refusal> {
        match self.update(|dispatcher| dispatcher.restore(source, Instant::now()))? {
            Some(restored) => restored.await.map_err(|_| Refusal::Internal),
            None => Ok(()),
        }
    }

    /// Records that a runtime failed to start, and fails the invocations that it was started for.
    pub(crate) fn init_failed(
        &self,
        source: RuntimeSource,
        failure: Failure,
    ) -> Result<(), Refusal> {
        self.update(|dispatcher| dispatcher.init_failed(source, failure, Instant::now()))
    }

    /// Forgets which environment a connection of an external runtime has.
    fn connection_closed(&self, connection: ConnectionId) {
        self.lock().connection_closed(connection);
    }

    /// Drops all invocations, because the emulator is being dropped.
    pub(crate) fn close(&self) {
        self.lock().close();
    }

    /// Ends overdue invocations until it is dropped.
    pub(crate) async fn expire(self: Arc<Self>) {
        loop {
            let next = self.end_overdue(Instant::now());
            let changed = self.deadline_changed.notified();
            match next {
                Some(next) => drop(timeout_at(next, changed).await),
                None => changed.await,
            }
        }
    }

    pub(crate) fn environment_started(&self, handle: RuntimeHandle) -> EnvironmentId {
        self.lock().environment_started(handle, Instant::now())
    }

    /// Fails the invocations of an environment that has ended or could not be started.
    pub(crate) fn environment_ended(&self, id: EnvironmentId, status: &str) {
        self.update(|dispatcher| dispatcher.environment_ended(id, status, Instant::now()));
    }

    /// Waits until an invocation needs another environment.
    pub(crate) async fn environment_needed(&self) {
        while !self.lock().needs_environment(Instant::now()) {
            self.environment_needed.notified().await;
        }
    }

    /// Ends the environments that the emulator runs, each after its last invocation.
    pub(crate) fn make_cold(&self) {
        self.update(Dispatcher::make_cold);
    }

    /// Logs what the runtime of an environment has written.
    pub(crate) fn log(&self, environment: EnvironmentId, output: &[u8]) {
        self.lock().log(environment, output);
    }

    /// Waits until everything that a runtime has written so far is in the log.
    pub(crate) async fn flush_log(&self, environment: EnvironmentId) {
        let runtime = self.lock().runtime(environment).cloned();
        if let Some(runtime) = runtime {
            runtime.flush().await;
        }
    }

    /// Starts an invocation for a runtime. Returns `None` if the emulator is closed.
    fn start(
        self: &Arc<Self>,
        environment: EnvironmentId,
        invocation: QueuedInvocation,
    ) -> Option<RuntimeEvent> {
        if let Some(EnvironmentFault::ShutDown(after)) = invocation.fault {
            let function = Arc::downgrade(self);
            tokio::spawn(async move {
                sleep(after).await;
                if let Some(function) = function.upgrade() {
                    function.update(|dispatcher| dispatcher.shut_down(environment));
                }
            });
        }
        let mut dispatcher = self.lock();
        // All invocations have the same timeout, so that a later one is never due earlier.
        if dispatcher.next_deadline().is_none() {
            self.deadline_changed.notify_one();
        }
        dispatcher.start(environment, invocation, Instant::now())
    }

    /// Queues an invocation again whose runtime has disconnected before it was started.
    fn take_back(&self, environment: EnvironmentId, invocation: QueuedInvocation) {
        self.update(|dispatcher| dispatcher.take_back(environment, invocation));
    }

    fn start_response(
        &self,
        source: RuntimeSource,
        id: &str,
        invocation_id: Option<&HeaderValue>,
    ) -> Result<(EnvironmentId, ResponseStart), Refusal> {
        self.lock().start_response(source, id, invocation_id)
    }

    /// Returns where the chunks of the response go, or `None` if the invocation has ended.
    fn start_stream(
        &self,
        environment: EnvironmentId,
        id: &RequestId,
    ) -> Option<mpsc::Sender<Bytes>> {
        self.lock().start_stream(environment, id)
    }

    /// Returns whether the log of a running invocation is wanted.
    fn wants_log(&self, environment: EnvironmentId, id: &RequestId) -> bool {
        self.lock().wants_log(environment, id)
    }

    /// Ends a running invocation. Returns false if it has ended already.
    fn end(&self, environment: EnvironmentId, id: &RequestId, end: InvocationEnd) -> bool {
        self.update(|dispatcher| dispatcher.end(environment, id, end, Instant::now()))
    }

    /// Ends the invocations that are overdue, and returns when to look again.
    fn end_overdue(&self, now: Instant) -> Option<Instant> {
        let mut dispatcher = self.lock();
        let next = dispatcher.end_overdue(now);
        if dispatcher.needs_environment(now) {
            self.environment_needed.notify_one();
        }
        self.report_failed_events(dispatcher);
        next
    }

    /// Changes the dispatcher, and wakes the tasks that serve an invocation without a runtime.
    ///
    /// The tasks wake only for a queued invocation, so that a call which finds a warm environment
    /// costs no more.
    fn update<R>(&self, change: impl FnOnce(&mut Dispatcher) -> R) -> R {
        let mut dispatcher = self.lock();
        let result = change(&mut dispatcher);
        if dispatcher.has_queued() {
            let now = Instant::now();
            if dispatcher.needs_environment(now) {
                self.environment_needed.notify_one();
            }
            if dispatcher.waits_for_time(now) {
                self.deadline_changed.notify_one();
            }
        }
        if dispatcher.has_delayed() {
            self.deadline_changed.notify_one();
        }
        self.report_failed_events(dispatcher);
        result
    }

    /// Reports the events whose last delivery failed, without the lock.
    fn report_failed_events(&self, mut dispatcher: MutexGuard<'_, Dispatcher>) {
        let events = dispatcher.take_failed_events();
        drop(dispatcher);
        if let Some(on_failure) = &self.options.on_failure {
            events.into_iter().for_each(|event| on_failure.report(event));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Dispatcher> {
        // No code panics while it holds the lock.
        self.dispatcher.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
