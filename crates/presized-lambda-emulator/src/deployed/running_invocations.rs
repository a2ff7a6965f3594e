//! The invocations that a runtime is at work on, with their deadlines.

use std::collections::{BTreeSet, HashMap};

use tokio::time::Instant;

use super::queued_invocation::RequestId;
use super::running_invocation::RunningInvocation;

/// The running invocations of one slot.
#[derive(Default)]
pub(super) struct RunningInvocations {
    by_id: HashMap<RequestId, RunningInvocation>,
    deadlines: BTreeSet<(Instant, RequestId)>,
}

impl RunningInvocations {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn ids(&self) -> Vec<RequestId> {
        self.by_id.keys().cloned().collect()
    }

    pub(super) fn get(&self, id: &str) -> Option<&RunningInvocation> {
        self.by_id.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut RunningInvocation> {
        self.by_id.get_mut(id)
    }

    pub(super) fn insert(&mut self, id: RequestId, invocation: RunningInvocation) {
        if let Some(deadline) = invocation.deadline() {
            self.deadlines.insert((deadline, RequestId::clone(&id)));
        }
        self.by_id.insert(id, invocation);
    }

    pub(super) fn remove(&mut self, id: &RequestId) -> Option<RunningInvocation> {
        let invocation = self.by_id.remove(id)?;
        if let Some(deadline) = invocation.deadline() {
            self.deadlines.remove(&(deadline, RequestId::clone(id)));
        }
        Some(invocation)
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Returns the invocation with the earliest deadline if that has passed.
    pub(super) fn overdue(&self, now: Instant) -> Option<RequestId> {
        let (deadline, id) = self.deadlines.first()?;
        (*deadline <= now).then(|| RequestId::clone(id))
    }
}
