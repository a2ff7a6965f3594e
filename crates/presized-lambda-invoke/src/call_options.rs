use std::time::{Duration, Instant};

use presized::Reader;

use super::wire::RESPONSE_MAX;

/// The settings of a client that each call can change.
#[derive(Clone, Debug)]
pub(super) struct CallOptions {
    pub(super) deadline: Deadline,
    pub(super) attempt_timeout: Option<Duration>,
    pub(super) stream_idle_timeout: Option<Duration>,
    pub(super) retry_after_send: bool,
    /// The reader of responses that are read into one buffer.
    pub(super) reader: Reader,
}

/// The deadline of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deadline {
    /// This time after the call begins.
    After(Duration),
    At(Instant),
}

impl Deadline {
    /// Returns the deadline of a call that begins now.
    pub(super) fn instant(self) -> Instant {
        let now = Instant::now();
        match self {
            Self::After(duration) => now.checked_add(duration).unwrap_or(now + FAR),
            Self::At(instant) => instant,
        }
    }
}

impl Default for CallOptions {
    fn default() -> Self {
        Self {
            deadline: Deadline::After(TIMEOUT),
            attempt_timeout: None,
            stream_idle_timeout: None,
            retry_after_send: false,
            reader: Reader::new(RESPONSE_MAX),
        }
    }
}

/// A function may run for 15 minutes
/// (<https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>). One more minute is
/// for the connection and the response.
const TIMEOUT: Duration = Duration::from_secs(16 * 60);

/// The time that replaces one that is too long for an [`Instant`]: 30 years, as in tokio.
pub(super) const FAR: Duration = Duration::from_secs(86_400 * 365 * 30);
