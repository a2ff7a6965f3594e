//! The invocations of a function that wait for a runtime, oldest first.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::queued_invocation::QueuedInvocation;

/// A queue of invocations.
#[derive(Default)]
pub(super) struct InvocationQueue {
    waiting: VecDeque<QueuedInvocation>,
}

impl InvocationQueue {
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn push(&mut self, invocation: QueuedInvocation) {
        self.waiting.push_back(invocation);
    }

    /// Makes an invocation that was popped the oldest again.
    pub(super) fn put_back(&mut self, invocation: QueuedInvocation) {
        self.waiting.push_front(invocation);
    }

    pub(super) fn pop(&mut self) -> Option<QueuedInvocation> {
        self.waiting.pop_front()
    }

    /// Returns when the oldest invocation whose caller waits was queued.
    pub(super) fn oldest_call(&self) -> Option<Instant> {
        Some(self.waiting[self.oldest_call_position()?].queued_at)
    }

    /// Removes the oldest invocation whose caller waits.
    pub(super) fn remove_oldest_call(&mut self) -> Option<QueuedInvocation> {
        self.waiting.remove(self.oldest_call_position()?)
    }

    fn oldest_call_position(&self) -> Option<usize> {
        self.waiting.iter().position(|invocation| invocation.reply.is_awaited())
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
