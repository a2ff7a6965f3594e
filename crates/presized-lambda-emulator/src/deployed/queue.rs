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
