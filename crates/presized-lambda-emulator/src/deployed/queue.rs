//! The invocations of a function that wait for a runtime, oldest first.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::queued_invocation::QueuedInvocation;

/// A queue of invocations.
#[derive(Default)]
pub(super) struct InvocationQueue {
    /// The invocations whose caller waits.
    calls: VecDeque<QueuedInvocation>,
    /// The invocations of type `Event`.
    events: VecDeque<QueuedInvocation>,
    /// The events that are delivered again later.
    delayed: Vec<(Instant, QueuedInvocation)>,
}

impl InvocationQueue {
    pub(super) fn len(&self) -> usize {
        self.calls.len() + self.events.len()
    }

    /// Returns the number of invocations whose caller waits.
    pub(super) fn calls(&self) -> usize {
        self.calls.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn push(&mut self, invocation: QueuedInvocation) {
        self.of_kind(&invocation).push_back(invocation);
    }

    /// Adds an event, which is queued at `due`.
    pub(super) fn push_later(&mut self, event: QueuedInvocation, due: Instant) {
        self.delayed.push((due, event));
    }

    /// Queues the events that are due, and returns when the next one is.
    pub(super) fn queue_due(&mut self, now: Instant) -> Option<Instant> {
        self.delayed.sort_by_key(|(due, _)| *due);
        let due = self.delayed.partition_point(|(due, _)| *due <= now);
        for (due, event) in self.delayed.drain(..due) {
            self.events.push_back(QueuedInvocation { queued_at: due, ..event });
        }
        Some(self.delayed.first()?.0)
    }

    pub(super) fn has_delayed(&self) -> bool {
        !self.delayed.is_empty()
    }

    /// Makes an invocation that was popped the oldest again.
    pub(super) fn put_back(&mut self, invocation: QueuedInvocation) {
        self.of_kind(&invocation).push_front(invocation);
    }

    /// Removes the oldest invocation.
    pub(super) fn pop(&mut self) -> Option<QueuedInvocation> {
        let queued_at = |queue: &VecDeque<QueuedInvocation>| Some(queue.front()?.queued_at);
        let event_is_older = match (queued_at(&self.calls), queued_at(&self.events)) {
            (Some(call), Some(event)) => event < call,
            (call, _) => call.is_none(),
        };
        if event_is_older { self.events.pop_front() } else { self.calls.pop_front() }
    }

    /// Returns when the oldest invocation whose caller waits was queued.
    pub(super) fn oldest_call(&self) -> Option<Instant> {
        Some(self.calls.front()?.queued_at)
    }

    /// Removes the oldest invocation whose caller waits.
    pub(super) fn remove_oldest_call(&mut self) -> Option<QueuedInvocation> {
        self.calls.pop_front()
    }

    fn of_kind(&mut self, invocation: &QueuedInvocation) -> &mut VecDeque<QueuedInvocation> {
        if invocation.reply.is_awaited() { &mut self.calls } else { &mut self.events }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::super::reply::Reply;
    use super::super::tests::invocation;
    use super::*;

    #[test]
    fn invocation_that_is_put_back_is_the_next_one() {
        let mut queue = InvocationQueue::default();
        queue.push(invocation("first"));
        queue.push(invocation("second"));
        let first = queue.pop().expect("no invocation");
        queue.put_back(first);
        let ids: Vec<_> =
            std::iter::from_fn(|| queue.pop()).map(|invocation| invocation.id).collect();
        assert_eq!(ids, ["first".into(), "second".into()]);
    }

    #[test]
    fn oldest_call_is_the_first_invocation_with_a_waiting_caller() {
        let mut queue = InvocationQueue::default();
        queue.push(invocation("event"));
        assert_eq!(queue.oldest_call(), None);
        assert!(queue.remove_oldest_call().is_none());
        let call =
            QueuedInvocation { reply: Reply::Caller(oneshot::channel().0), ..invocation("call") };
        let queued_at = call.queued_at;
        queue.push(call);
        assert_eq!(queue.oldest_call(), Some(queued_at));
        assert_eq!(queue.remove_oldest_call().map(|call| call.id).as_deref(), Some("call"));
        assert_eq!(queue.len(), 1);
    }
}
