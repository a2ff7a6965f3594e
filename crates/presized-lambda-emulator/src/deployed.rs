//! A function that the emulator serves, shared by the callers, the runtime and the timer.
//!
//! `Deployed` holds the lock and wakes tasks. [`Dispatcher`] says what happens to an invocation.

mod dispatcher;
mod ended_invocations;
mod event_poll;
mod function_log;
mod queue;
mod queued_invocation;
mod reply;
mod response_guard;
mod running_invocation;
mod running_invocations;
mod runtime_event;
mod slot;
mod state;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::HeaderValue;
use presized::{BufferPool, LengthHistory, Reader};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, timeout_at};

use self::dispatcher::Dispatcher;
use self::event_poll::EventPoll;
use self::running_invocation::ResponseStart;
use crate::failure::Failure;
use crate::process::ProcessHandle;
use crate::runtime_api::Refusal;
use crate::{Function, Stats};

pub(crate) use self::dispatcher::Throttled;
pub(crate) use self::queued_invocation::{QueuedInvocation, RequestId};
pub(crate) use self::reply::{InvocationEnd, Reply};
pub(crate) use self::response_guard::ResponseGuard;
pub(crate) use self::runtime_event::RuntimeEvent;

/// A function that the emulator serves.
pub(crate) struct Deployed {
    name: String,
    options: Function,
    pool: BufferPool,
    event_lengths: LengthHistory,
    response_lengths: LengthHistory,
    /// Whether `attach` or `spawn` has given the function a runtime.
    claimed: AtomicBool,
    /// Signals that an invocation waits and no runtime polls.
    runtime_needed: Notify,
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
            claimed: AtomicBool::new(false),
            runtime_needed: Notify::new(),
            deadline_changed: Notify::new(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn options(&self) -> &Function {
        &self.options
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

    /// Reserves the function for one runtime. Returns false if it is reserved already.
    pub(crate) fn claim(&self) -> bool {
        !self.claimed.swap(true, Relaxed)
    }

    /// Undoes [`claim`](Self::claim).
    pub(crate) fn release(&self) {
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

    /// Checks whether the function takes one more call.
    pub(crate) fn admit(&self) -> Result<(), Throttled> {
        self.lock().admit()
    }

    pub(crate) fn invoke(&self, invocation: QueuedInvocation) {
        self.update(|dispatcher| dispatcher.invoke(invocation));
    }

    /// Takes a request of a runtime for the next event.
    pub(crate) fn poll(self: &Arc<Self>) -> Result<EventPoll, Refusal> {
        let invocation = self.update(|dispatcher| dispatcher.poll(Instant::now()))?;
        Ok(EventPoll::new(Arc::clone(self), invocation))
    }

    /// Lets a runtime restore itself. It succeeds at once, because there is no snapshot.
    pub(crate) fn restore(&self) -> Result<(), Refusal> {
        self.lock().restore()
    }

    /// Records that a runtime failed to start, and fails the queued invocations.
    pub(crate) fn init_failed(&self, failure: Failure) -> Result<(), Refusal> {
        self.lock().init_failed(failure)
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

    pub(crate) fn process_started(&self, process: ProcessHandle) {
        self.lock().process_started(process);
    }

    /// Fails the invocations of a process that has ended or could not be started.
    pub(crate) fn process_ended(&self, status: &str) {
        self.update(|dispatcher| dispatcher.process_ended(status, Instant::now()));
    }

    /// Waits until an invocation is queued.
    pub(crate) async fn runtime_needed(&self) {
        while !self.lock().has_queued() {
            self.runtime_needed.notified().await;
        }
    }

    /// Logs what the process has written.
    pub(crate) fn log(&self, output: &[u8]) {
        self.lock().log(output);
    }

    /// Waits until everything that the process has written so far is in the log.
    pub(crate) async fn flush_log(&self) {
        let process = self.lock().process().cloned();
        if let Some(process) = process {
            process.flush().await;
        }
    }

    /// Starts an invocation for a runtime. Returns `None` if the emulator is closed.
    fn start(&self, invocation: QueuedInvocation) -> Option<RuntimeEvent> {
        let mut dispatcher = self.lock();
        // All invocations have the same timeout, so that a later one is never due earlier.
        if dispatcher.next_deadline().is_none() {
            self.deadline_changed.notify_one();
        }
        dispatcher.start(invocation, Instant::now())
    }

    /// Queues an invocation again whose runtime has disconnected before it was started.
    fn take_back(&self, invocation: QueuedInvocation) {
        self.update(|dispatcher| dispatcher.take_back(invocation));
    }

    fn start_response(
        &self,
        id: &str,
        invocation_id: Option<&HeaderValue>,
    ) -> Result<ResponseStart, Refusal> {
        self.lock().start_response(id, invocation_id)
    }

    /// Returns where the chunks of the response go, or `None` if the invocation has ended.
    fn start_stream(&self, id: &RequestId) -> Option<mpsc::Sender<Bytes>> {
        self.lock().start_stream(id)
    }

    /// Returns whether the log of a running invocation is wanted.
    fn wants_log(&self, id: &RequestId) -> bool {
        self.lock().wants_log(id)
    }

    /// Ends a running invocation. Returns false if it has ended already.
    fn end(&self, id: &RequestId, end: InvocationEnd) -> bool {
        self.update(|dispatcher| dispatcher.end(id, end, Instant::now()))
    }

    /// Ends the invocations that are overdue, and returns when the next one is due.
    fn end_overdue(&self, now: Instant) -> Option<Instant> {
        let mut dispatcher = self.lock();
        let next = dispatcher.end_overdue(now);
        if dispatcher.needs_runtime() {
            self.runtime_needed.notify_one();
        }
        next
    }

    /// Changes the dispatcher, and wakes the tasks that serve an invocation without a runtime.
    fn update<R>(&self, change: impl FnOnce(&mut Dispatcher) -> R) -> R {
        let mut dispatcher = self.lock();
        let result = change(&mut dispatcher);
        if dispatcher.needs_runtime() {
            self.runtime_needed.notify_one();
            self.deadline_changed.notify_one();
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, Dispatcher> {
        // No code panics while it holds the lock.
        self.dispatcher.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
