//! From an event that a runtime has to the end of its invocation.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use super::deployed::{Deployed, Inner, Past};
use super::failure::Failure;
use super::invocation::{End, Outcome, Reply, RequestId, Stream};
use super::log;
use super::state::{Known, Mode, Refusal, may_answer};

/// The right to answer an invocation, as long as its answer is being read.
///
/// Where it is dropped before the end, the answer was cut.
pub(super) struct Answering {
    function: Arc<Deployed>,
    id: RequestId,
    takes_stream: bool,
    wants_log: bool,
    /// What it comes to, as soon as that is known.
    end: Option<End>,
    ended: bool,
    over: oneshot::Receiver<()>,
}

impl Deployed {
    /// A runtime begins to answer the invocation `id`.
    pub(super) fn answer(
        self: &Arc<Self>,
        id: &str,
        invocation_id: Option<&HeaderValue>,
    ) -> Result<Answering, Refusal> {
        let mut inner = self.lock();
        may_answer(self.options.mode(), inner.known(id, invocation_id))?;
        let id = RequestId::from(id);
        let Some(running) = inner.running.get_mut(&id) else {
            return Err(Refusal::InvalidRequestId);
        };
        let (answering, over) = oneshot::channel();
        running.answering = Some(answering);
        Ok(Answering {
            function: Arc::clone(self),
            takes_stream: running.takes_stream,
            wants_log: running.log.is_some(),
            id,
            end: None,
            ended: false,
            over,
        })
    }

    /// Ends invocations whose time is over, for as long as it is polled.
    pub(super) async fn expire(self: Arc<Self>) {
        loop {
            let next = self.expired(Instant::now());
            let earlier = self.deadline_set.notified();
            match next {
                // Which of them it is, the next turn sees.
                Some(next) => drop(timeout_at(next, earlier).await),
                None => earlier.await,
            }
        }
    }

    /// Ends what was due, and tells when the next is.
    fn expired(self: &Arc<Self>, now: Instant) -> Option<Instant> {
        let mut inner = self.lock();
        while let Some((deadline, id)) = inner.deadlines.first() {
            if *deadline > now {
                break;
            }
            let id = Arc::clone(id);
            let failure = Failure::timed_out(&id, self.options.timeout);
            self.end(&mut inner, &id, End::TimedOut(failure));
            // Whatever a process is at cannot be ended otherwise. Of one that has other
            // invocations too, only this one is given up.
            if self.options.mode() == Mode::Classic {
                if let Some(process) = &inner.process {
                    process.stop.notify_one();
                }
            }
        }
        let given_up = self.give_up(&mut inner, now);
        let deadline = inner.deadlines.first().map(|(deadline, _)| *deadline);
        [deadline, given_up].into_iter().flatten().min()
    }

    /// Ends an invocation, and tells whether it was under way.
    pub(super) fn end(self: &Arc<Self>, inner: &mut Inner, id: &RequestId, end: End) -> bool {
        let Some(mut running) = inner.running.remove(id) else { return false };
        if let Some(deadline) = running.deadline {
            inner.deadlines.remove(&(deadline, Arc::clone(id)));
        }
        inner.count(&end);
        let past = match end {
            End::TimedOut(_) => Past::TimedOut,
            End::Answered { .. } | End::Streamed | End::Failed(_) => Past::Answered,
        };
        inner.remember(Arc::clone(id), past);
        if let Some(log) = &mut running.log {
            let took = running.started.elapsed();
            log.push(log::end(id, took, self.options.memory_mb).as_bytes());
        }
        running.reply.send(end, running.log);
        inner.last_seen = Some(Instant::now());
        self.dispatch(inner);
        true
    }
}

impl Answering {
    /// Whether the caller takes the answer as it comes.
    pub(super) fn takes_stream(&self) -> bool {
        self.takes_stream
    }

    /// Waits until somebody else has ended the invocation.
    pub(super) async fn over(&mut self) {
        // Nothing is ever sent.
        let _ = (&mut self.over).await;
    }

    /// Gives the caller the beginning of the answer, and what comes of it.
    pub(super) fn start_stream(&self) -> Result<mpsc::Sender<Bytes>, Refusal> {
        let mut inner = self.function.lock();
        let running = inner.running.get_mut(&self.id).ok_or(Refusal::InvokeTimeout)?;
        let (sender, chunks) = mpsc::channel(CHUNKS_AHEAD);
        let (last, ending) = oneshot::channel();
        let before = std::mem::replace(&mut running.reply, Reply::Stream(last));
        if let Reply::Caller(caller) = before {
            // A caller that is gone is noticed by the first chunk.
            let _ = caller.send(Outcome::Stream(Stream { chunks, ending }));
        }
        Ok(sender)
    }

    /// Ends the invocation, unless it was over before that.
    pub(super) async fn end(mut self, end: End) -> Result<(), Refusal> {
        // Counts though the runtime goes away before it is told.
        self.end = Some(end);
        if self.wants_log {
            self.function.settle_log().await;
        }
        if self.end_now() { Ok(()) } else { Err(Refusal::InvokeTimeout) }
    }

    fn end_now(&mut self) -> bool {
        self.ended = true;
        let end = self.end.take().unwrap_or_else(|| End::Failed(Failure::truncated()));
        self.function.end(&mut self.function.lock(), &self.id, end)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        if !self.ended {
            self.end_now();
        }
    }
}

impl Inner {
    fn known(&self, id: &str, invocation_id: Option<&HeaderValue>) -> Known {
        if let Some(running) = self.running.get(id) {
            let another = match (&running.invocation_id, invocation_id) {
                (Some(ours), Some(theirs)) => ours != theirs,
                _ => false,
            };
            return match (another, running.answering.is_some()) {
                (true, _) => Known::Another,
                (false, true) => Known::Answering,
                (false, false) => Known::Running,
            };
        }
        match self.ended.iter().rev().find(|(ended, _)| **ended == *id) {
            None => Known::Nothing,
            Some((_, Past::Answered)) => Known::Answered,
            Some((_, Past::TimedOut)) => Known::TimedOut,
        }
    }

    fn remember(&mut self, id: RequestId, past: Past) {
        if self.ended.len() == REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back((id, past));
    }
}

/// Chunks of a streamed answer that are taken from a runtime before its caller has them. A
/// chunk is what the connection has read at once.
const CHUNKS_AHEAD: usize = 4;

/// Invocations that are remembered after their end: more than are under way at a time.
const REMEMBERED: usize = 1024;
