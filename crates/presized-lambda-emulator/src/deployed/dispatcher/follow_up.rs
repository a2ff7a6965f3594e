//! The next delivery of an event after an invocation has ended, or the report of its failure.

use std::mem;

use tokio::time::Instant;

use super::super::queued_invocation::QueuedInvocation;
use super::super::reply::InvocationEnd;
use super::Dispatcher;
use crate::failed_event::FailedEvent;

impl Dispatcher {
    /// Delivers the event of an invocation that has ended again, or reports its failure.
    pub(super) fn follow_up(
        &mut self,
        mut again: QueuedInvocation,
        end: &InvocationEnd,
        now: Instant,
    ) {
        again.attempts += 1;
        let failure = match end {
            InvocationEnd::Failed(failure) | InvocationEnd::TimedOut(failure) => Some(failure),
            InvocationEnd::Response { .. } | InvocationEnd::Streamed => None,
        };
        match (failure, again.retries) {
            (Some(_), Some(left @ 1..)) => {
                again.retries = Some(left - 1);
                let delay = self.options.async_retry_delay.saturating_mul(again.attempts);
                return self.deliver_again(again, now.checked_add(delay), now);
            }
            (Some(failure), Some(0)) if self.options.on_failure.is_some() => {
                self.failed_events.push(FailedEvent {
                    request_id: again.id.to_string(),
                    payload: again.event.clone(),
                    attempts: again.attempts,
                    error_type: failure.error_type.clone(),
                    report: failure.payload.clone(),
                });
            }
            _ => {}
        }
        if again.duplicates > 0 {
            again.duplicates -= 1;
            again.attempts = 0;
            again.retries = again.retries.map(|_| self.options.async_retries);
            self.deliver_again(again, Some(now), now);
        }
    }

    /// Queues an event at `due`, or never if that is too late for the clock.
    fn deliver_again(&mut self, event: QueuedInvocation, due: Option<Instant>, now: Instant) {
        self.stats.redelivered += 1;
        match due {
            Some(due) if due > now => self.queue.push_later(event, due),
            Some(_) => self.queue.push(QueuedInvocation { queued_at: now, ..event }),
            None => {}
        }
    }

    /// Takes the events whose last delivery failed.
    pub(in super::super) fn take_failed_events(&mut self) -> Vec<FailedEvent> {
        mem::take(&mut self.failed_events)
    }

    pub(in super::super) fn has_delayed(&self) -> bool {
        self.queue.has_delayed()
    }
}
