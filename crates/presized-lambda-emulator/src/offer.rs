//! An event on its way to a runtime.

use std::mem;
use std::sync::Arc;

use http::HeaderValue;
use tokio::time::Instant;

use super::deployed::Deployed;
use super::invocation::{Event, Invocation, Running};
use super::state::Mode;
use super::{ids, log};

/// An event on its way to a slot. It goes back to the head of the queue if the slot is gone.
pub(super) struct Offer {
    function: Arc<Deployed>,
    invocation: Option<Invocation>,
}

impl Offer {
    pub(super) fn new(function: &Arc<Deployed>, invocation: Invocation) -> Self {
        Self { function: Arc::clone(function), invocation: Some(invocation) }
    }

    /// The call, for whoever puts it back.
    pub(super) fn withdraw(&mut self) -> Option<Invocation> {
        self.invocation.take()
    }

    /// The event, which the runtime has from here on.
    pub(super) fn accept(mut self) -> Option<Event> {
        let function = Arc::clone(&self.function);
        let mut invocation = self.invocation.take()?;
        let mut inner = function.lock();
        inner.offered -= 1;
        if inner.closed {
            return None;
        }
        inner.stats.started += 1;
        let timeout = function.options.timeout;
        let started = Instant::now();
        let invocation_id = match function.options.mode() {
            Mode::Classic => None,
            Mode::Concurrent => HeaderValue::try_from(ids::uuid()).ok(),
        };
        if let Some(log) = &mut invocation.log {
            mem::take(&mut inner.idle_log).move_to(log);
            log.push(log::start(&invocation.id, &invocation.version).as_bytes());
        }
        // A time that is too long for the clock never comes.
        let deadline = started.checked_add(timeout);
        if let Some(deadline) = deadline {
            // Whoever waits for an earlier one sees this one in time.
            if inner.deadlines.is_empty() {
                function.deadline_set.notify_one();
            }
            inner.deadlines.insert((deadline, Arc::clone(&invocation.id)));
        }
        let running = Running {
            invocation_id: invocation_id.clone(),
            started,
            deadline,
            answering: None,
            takes_stream: invocation.takes_stream,
            log: invocation.log,
            reply: invocation.reply,
        };
        inner.running.insert(invocation.id, running);
        Some(Event {
            headers: invocation.headers,
            timeout,
            invocation_id,
            payload: invocation.event,
        })
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        if let Some(invocation) = self.invocation.take() {
            let mut inner = self.function.lock();
            inner.offered -= 1;
            if !inner.closed {
                inner.queue.push_front(invocation);
                self.function.dispatch(&mut inner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;
    use tokio::time::Instant;

    use super::super::Function;
    use super::super::invocation::Reply;
    use super::*;
    use presized::BufferPool;

    fn invocation(event: &'static str) -> Invocation {
        Invocation {
            id: event.into(),
            version: String::new(),
            queued: Instant::now(),
            event: Bytes::from(event),
            headers: HeaderMap::new(),
            takes_stream: false,
            log: None,
            reply: Reply::Nobody,
        }
    }

    #[test]
    fn an_event_that_was_offered_to_a_slot_that_goes_is_the_next_ones() {
        let function = Deployed::new("fn".to_owned(), Function::new(), BufferPool::new(0));
        let function = Arc::new(function);
        let gone = function.poll().expect("nothing runs");
        function.invoke(invocation("first"));
        function.invoke(invocation("second"));
        drop(gone);
        let mut slot = function.poll().expect("nothing runs");
        let event = slot.try_recv().ok().and_then(Offer::accept).expect("an event");
        assert_eq!(event.payload, "first");
        assert_eq!(function.stats().started, 1);
    }
}
