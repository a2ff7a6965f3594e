//! A function that is being served: the calls that wait for a runtime, and the runtimes that
//! wait for a call.
//!
//! How an event gets to a runtime is in `offer.rs`, and what becomes of it in `answering.rs`.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use super::failure::Failure;
use super::invocation::{End, Invocation, Reply, RequestId, Running};
use super::log::Tail;
use super::offer::Offer;
use super::process::Process;
use super::state::{Mode, Refusal, may_fail_init, may_poll, may_restore};
use super::{Function, Stats};
use presized::{BufferPool, LengthHistory};

/// A function and all that is under way with it.
pub(super) struct Deployed {
    pub(super) name: String,
    pub(super) options: Function,
    pub(super) pool: BufferPool,
    /// Of events and answers that came without a length.
    pub(super) events: LengthHistory,
    pub(super) answers: LengthHistory,
    /// There is a call for which there is no runtime.
    pub(super) invoked: Notify,
    /// There is a deadline where there was none, or a call for which there is no runtime.
    pub(super) deadline_set: Notify,
    /// Whether the emulator has been given a runtime for it.
    has_runtime: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
pub(super) struct Inner {
    pub(super) closed: bool,
    pub(super) queue: VecDeque<Invocation>,
    /// Runtimes that have asked for an event.
    pub(super) slots: VecDeque<oneshot::Sender<Offer>>,
    /// Events that are on their way to a slot.
    pub(super) offered: usize,
    /// When a runtime last asked for an event, or was done with one.
    pub(super) last_seen: Option<Instant>,
    pub(super) running: HashMap<RequestId, Running>,
    /// Of those that run.
    pub(super) deadlines: BTreeSet<(Instant, RequestId)>,
    /// What is remembered of those that ended, the latest last.
    pub(super) ended: VecDeque<(RequestId, Past)>,
    /// Whether the runtime has asked for an event since it was started.
    pub(super) initialised: bool,
    /// How its start failed.
    pub(super) init_failure: Option<Failure>,
    pub(super) process: Option<Process>,
    /// What was logged between invocations: the next one shows it.
    pub(super) idle_log: Tail,
    throttle: u32,
    pub(super) stats: Stats,
}

/// What became of an invocation, for the runtime that answers it once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Past {
    Answered,
    TimedOut,
}

/// A call is too many.
#[derive(Debug)]
pub(super) struct Throttled;

impl Deployed {
    pub(super) fn new(name: String, options: Function, pool: BufferPool) -> Self {
        Self {
            name,
            options,
            pool,
            events: LengthHistory::new(),
            answers: LengthHistory::new(),
            invoked: Notify::new(),
            deadline_set: Notify::new(),
            has_runtime: AtomicBool::new(false),
            inner: Mutex::default(),
        }
    }

    /// Whether whoever asks is the first to run it.
    pub(super) fn claim(&self) -> bool {
        !self.has_runtime.swap(true, Relaxed)
    }

    /// Takes that back.
    pub(super) fn release(&self) {
        self.has_runtime.store(false, Relaxed);
    }

    /// Whether one more call is taken.
    pub(super) fn admit(&self) -> Result<(), Throttled> {
        let mut inner = self.lock();
        let full = inner.queue.len() + inner.running.len() >= CONCURRENT_CALLS;
        if inner.throttle == 0 && !full {
            return Ok(());
        }
        inner.throttle = inner.throttle.saturating_sub(1);
        inner.stats.throttled += 1;
        Err(Throttled)
    }

    /// Refuses the next calls.
    pub(super) fn throttle(&self, calls: u32) {
        self.lock().throttle = calls;
    }

    pub(super) fn stats(&self) -> Stats {
        self.lock().stats
    }

    /// Queues a call.
    pub(super) fn invoke(self: &Arc<Self>, invocation: Invocation) {
        let mut inner = self.lock();
        if inner.closed {
            return;
        }
        inner.stats.invoked += 1;
        match &inner.init_failure {
            // A process is started again for the next event, and nothing else is.
            Some(failure) if inner.process.is_none() => {
                let failure = failure.clone();
                inner.fail_queued(invocation, End::Failed(failure));
            }
            _ => {
                inner.queue.push_back(invocation);
                self.dispatch(&mut inner);
            }
        }
    }

    /// Ends the calls for which there has been no runtime for too long, and tells when the next is
    /// due. One that is under way, or waits for a runtime that is, goes on, and so does what was
    /// invoked as an event.
    pub(super) fn give_up(&self, inner: &mut Inner, now: Instant) -> Option<Instant> {
        let patience = self.options.init_timeout;
        while !inner.has_runtime() {
            let waits = |invocation: &Invocation| !matches!(invocation.reply, Reply::Nobody);
            let first = inner.queue.iter().position(waits)?;
            let since = inner.last_seen.max(Some(inner.queue[first].queued))?;
            let due = since.checked_add(patience)?;
            if due > now {
                return Some(due);
            }
            let invocation = inner.queue.remove(first)?;
            tracing::warn!(function = self.name, "nothing is attached to the function, or runs it");
            let failure = Failure::timed_out(&invocation.id, patience);
            inner.fail_queued(invocation, End::TimedOut(failure));
        }
        None
    }

    /// A runtime asks for an event.
    pub(super) fn poll(self: &Arc<Self>) -> Result<oneshot::Receiver<Offer>, Refusal> {
        let mode = self.options.mode();
        let mut inner = self.lock();
        may_poll(mode, inner.running.len())?;
        inner.initialised = true;
        inner.init_failure = None;
        inner.last_seen = Some(Instant::now());
        // It has left behind what it has answered.
        inner.ended.retain(|(_, past)| *past == Past::TimedOut);
        inner.slots.retain(|slot| !slot.is_closed());
        let (slot, offer) = oneshot::channel();
        if !inner.closed {
            inner.slots.push_back(slot);
            self.dispatch(&mut inner);
        }
        Ok(offer)
    }

    /// A runtime asks to be restored. There is no snapshot, so that it is at once.
    pub(super) fn restore(&self) -> Result<(), Refusal> {
        may_restore(self.lock().initialised)
    }

    /// A runtime has failed to start: so do the calls that wait for it.
    pub(super) fn init_failed(&self, failure: Failure) -> Result<(), Refusal> {
        let mut inner = self.lock();
        may_fail_init(inner.initialised)?;
        inner.fail_queue(|_| failure.clone());
        inner.init_failure = Some(failure);
        Ok(())
    }

    /// Lets go of all that waits, since nothing will come any more.
    pub(super) fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        // Dropped without the lock, which an offer takes.
        let gone = (
            mem::take(&mut inner.queue),
            mem::take(&mut inner.slots),
            mem::take(&mut inner.running),
        );
        drop(inner);
        drop(gone);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing panics while it is held.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives calls to slots, as long as there are both.
    pub(super) fn dispatch(self: &Arc<Self>, inner: &mut Inner) {
        self.offer(inner);
        if !inner.queue.is_empty() && !inner.has_runtime() {
            self.invoked.notify_one();
            self.deadline_set.notify_one();
        }
    }

    fn offer(self: &Arc<Self>, inner: &mut Inner) {
        let classic = self.options.mode() == Mode::Classic;
        while !(classic && inner.offered + inner.running.len() > 0) {
            let Some(invocation) = inner.queue.pop_front() else { return };
            let Some(slot) = inner.slots.pop_front() else {
                inner.queue.push_front(invocation);
                return;
            };
            inner.offered += 1;
            let offer = Offer::new(self, invocation);
            if let Err(mut offer) = slot.send(offer) {
                // The connection was closed. Taken out, so that it is not put back twice.
                inner.offered -= 1;
                if let Some(invocation) = offer.withdraw() {
                    inner.queue.push_front(invocation);
                }
            }
        }
    }
}

impl Inner {
    /// Whether a runtime is at work, or waits for that.
    fn has_runtime(&self) -> bool {
        !self.running.is_empty()
            || self.offered > 0
            || self.slots.iter().any(|slot| !slot.is_closed())
    }

    pub(super) fn fail_queue(&mut self, failure: impl Fn(&str) -> Failure) {
        for invocation in mem::take(&mut self.queue) {
            let failure = failure(&invocation.id);
            self.fail_queued(invocation, End::Failed(failure));
        }
    }

    fn fail_queued(&mut self, mut invocation: Invocation, end: End) {
        self.count(&end);
        if let Some(log) = &mut invocation.log {
            mem::take(&mut self.idle_log).move_to(log);
        }
        invocation.reply.send(end, invocation.log);
    }

    pub(super) fn count(&mut self, end: &End) {
        let counter = match end {
            End::Answered { .. } | End::Streamed => &mut self.stats.responses,
            End::Failed(_) => &mut self.stats.errors,
            End::TimedOut(_) => &mut self.stats.timeouts,
        };
        *counter += 1;
    }
}

/// As many as Lambda executes at a time in an account by default
/// (<https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>).
const CONCURRENT_CALLS: usize = 1000;

#[cfg(test)]
mod tests;
