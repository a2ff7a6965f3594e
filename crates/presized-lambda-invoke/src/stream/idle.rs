//! The idle timeout of a stream.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use super::super::call_options::FAR;

/// Measures how long the caller has waited for the next byte of a stream.
///
/// A stream whose bytes are there when it is polled uses no timer.
#[derive(Debug)]
pub(super) struct Idle {
    timeout: Duration,
    wait: Wait,
    /// Kept from one wait to the next.
    sleep: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Wait {
    /// The caller does not wait.
    No,
    Running,
    /// The time is over. The body is polled once more, after the other tasks of the runtime.
    Over,
}

impl Idle {
    pub(super) fn new(timeout: Duration) -> Self {
        Self { timeout, wait: Wait::No, sleep: None }
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Ends the wait, because a byte has arrived.
    pub(super) fn stop(&mut self) {
        self.wait = Wait::No;
    }

    /// Begins or continues the wait, after the body was pending. It is ready if the wait has taken
    /// too long.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.wait {
            Wait::Over => return Poll::Ready(()),
            Wait::Running => {}
            Wait::No => {
                let now = Instant::now();
                let end = now.checked_add(self.timeout).unwrap_or(now + FAR);
                match &mut self.sleep {
                    Some(sleep) => sleep.as_mut().reset(end),
                    None => self.sleep = Some(Box::pin(sleep_until(end))),
                }
                self.wait = Wait::Running;
            }
        }
        if self.sleep.as_mut().is_some_and(|sleep| sleep.as_mut().poll(cx).is_ready()) {
            // If the thread was busy, the task of the connection has not run, and bytes may have
            // arrived in time.
            self.wait = Wait::Over;
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
