//! Whether a failed attempt is followed by another, and when. Pure.

use std::time::Duration;

use super::{Error, ErrorKind};

/// When to attempt a call again.
#[derive(Clone, Debug)]
pub(super) struct RetryPolicy {
    /// Attempts in all, the first one included.
    pub(super) max_attempts: u32,
    /// The most that is waited before the second attempt. It doubles from there on.
    pub(super) base: Duration,
    /// The most that is waited by our own choice. A `Retry-After` may ask for more.
    pub(super) cap: Duration,
}

impl RetryPolicy {
    /// How long to wait before the next attempt, of which `attempts` have been made. None means
    /// that there is no next one.
    ///
    /// `random` is evenly distributed over 0..1.
    pub(super) fn delay(
        &self,
        error: &Error,
        attempts: u32,
        retry_after_send: bool,
        random: f64,
    ) -> Option<Duration> {
        if attempts >= self.max_attempts || !is_retried(error, retry_after_send) {
            return None;
        }
        let asked_for = error.as_service_error().and_then(|error| error.retry_after);
        Some(self.backoff(attempts, random).max(asked_for.unwrap_or_default()))
    }

    /// Full jitter: anything between nothing and the bound, so that clients which failed
    /// together do not come back together
    /// (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
    fn backoff(&self, attempts: u32, random: f64) -> Duration {
        let doublings = attempts.saturating_sub(1).min(31);
        let bound = self.base.saturating_mul(1 << doublings).min(self.cap);
        bound.mul_f64(random)
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_attempts: 3, base: Duration::from_millis(100), cap: Duration::from_secs(20) }
    }
}

/// RFC 9110 §9.2.2: a POST is not sent again unless it is known not to have been applied.
fn is_retried(error: &Error, retry_after_send: bool) -> bool {
    match error.kind() {
        // Also of a connection that was gone before a byte was written.
        ErrorKind::Connect(_) => true,
        ErrorKind::Service(error) if error.may_have_run() => retry_after_send && error.is_gateway(),
        ErrorKind::Service(error) => error.is_transient(),
        ErrorKind::Broken(_) => retry_after_send,
        // Of one attempt. After the deadline of the call there is no time for another.
        ErrorKind::Timeout { .. } => retry_after_send || !error.may_have_run(),
        // The next answer would be no better.
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::Response;

    use super::super::ServiceError;
    use super::*;

    fn service(status: u16, retry_after: Option<&str>) -> Error {
        let mut response = Response::builder().status(status);
        if let Some(value) = retry_after {
            response = response.header("retry-after", value);
        }
        let (head, ()) = response.body(()).unwrap().into_parts();
        Error::service(ServiceError::parse(&head, Bytes::new()))
    }

    fn connect() -> Error {
        Error::unsent(ErrorKind::Connect("refused".into()))
    }

    fn timeout(may_have_run: bool) -> Error {
        Error::new(ErrorKind::Timeout { after: Duration::ZERO }, may_have_run)
    }

    #[test]
    fn what_may_have_run_is_sent_again_only_by_choice() {
        let policy = RetryPolicy::default();
        for (error, by_default, by_choice) in [
            (connect(), true, true),
            (service(429, None), true, true),
            (service(500, None), false, true),
            (service(503, None), true, true),
            (Error::broken("reset"), false, true),
            (service(502, None), false, true),
            (service(504, None), false, true),
            (service(400, None), false, false),
            (service(403, None), false, false),
            (service(404, None), false, false),
            (service(413, None), false, false),
            (Error::bad_input("no name"), false, false),
            (Error::credentials("none"), false, false),
            (timeout(true), false, true),
            (timeout(false), true, true),
        ] {
            for (choice, expected) in [(false, by_default), (true, by_choice)] {
                let again = policy.delay(&error, 1, choice, 0.5).is_some();
                assert_eq!(again, expected, "{error:?}, retry_after_send({choice})");
            }
        }
    }

    #[test]
    fn nothing_that_is_retried_by_default_may_have_run() {
        let policy = RetryPolicy::default();
        for status in 300..600 {
            for code in ["", "ThrottlingException", "EC2ThrottledException", "EFSIOException"] {
                let response = Response::builder().status(status).header("x-amzn-errortype", code);
                let (head, ()) = response.body(()).unwrap().into_parts();
                let error = Error::service(ServiceError::parse(&head, Bytes::new()));
                if policy.delay(&error, 1, false, 0.5).is_some() {
                    assert!(!error.may_have_run(), "{status} {code}");
                }
            }
        }
    }

    #[test]
    fn attempts_are_counted_with_the_first() {
        let policy = RetryPolicy { max_attempts: 3, ..RetryPolicy::default() };
        let goes_on = [1, 2, 3, 4].map(|made| policy.delay(&connect(), made, false, 0.5).is_some());
        assert_eq!(goes_on, [true, true, false, false]);
    }

    #[test]
    fn the_bound_of_the_wait_doubles_up_to_the_cap() {
        let policy = RetryPolicy {
            max_attempts: u32::MAX,
            base: Duration::from_millis(100),
            cap: Duration::from_secs(1),
        };
        for (attempts, bound) in
            [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1000), (6, 1000), (u32::MAX - 1, 1000)]
        {
            for (random, expected) in [(0.0, 0), (0.5, bound / 2), (1.0, bound)] {
                let delay = policy.delay(&connect(), attempts, false, random);
                assert_eq!(delay, Some(Duration::from_millis(expected)), "{attempts} {random}");
            }
        }
    }

    #[test]
    fn the_wait_that_lambda_asks_for_is_the_least() {
        let policy = RetryPolicy::default();
        for (retry_after, expected) in [("0", 100), ("1", 1000), ("60", 60_000)] {
            let delay = policy.delay(&service(429, Some(retry_after)), 1, false, 1.0);
            assert_eq!(delay, Some(Duration::from_millis(expected)), "{retry_after}");
        }
        let endless = policy.delay(&service(429, Some("99999999999999999999")), 1, false, 0.5);
        assert_eq!(endless, Some(Duration::from_secs(u64::MAX)));
    }
}
