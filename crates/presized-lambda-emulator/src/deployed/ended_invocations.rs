//! The invocations of a slot that have ended lately.

use std::collections::VecDeque;

use super::queued_invocation::RequestId;
use super::state::InvocationStatus;

/// The status of ended invocations, for runtimes that respond to one again or too late.
#[derive(Default)]
pub(super) struct EndedInvocations {
    /// The latest last.
    ended: VecDeque<(RequestId, InvocationStatus)>,
}

impl EndedInvocations {
    pub(super) fn push(&mut self, id: RequestId, status: InvocationStatus) {
        if self.ended.len() == REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back((id, status));
    }

    pub(super) fn status(&self, id: &str) -> InvocationStatus {
        let ended = self.ended.iter().rev().find(|(ended, _)| **ended == *id);
        ended.map_or(InvocationStatus::Unknown, |(_, status)| *status)
    }

    /// Forgets invocations that did not time out, as Lambda does when the runtime polls again.
    pub(super) fn forget_responses(&mut self) {
        self.ended.retain(|(_, status)| *status == InvocationStatus::TimedOut);
    }
}

/// The number of invocations that are remembered. It is more than run at a time.
const REMEMBERED: usize = 1024;
