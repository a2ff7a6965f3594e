//! The retry policy of a client. It is pure.

use std::time::Duration;

use super::{Error, ErrorKind};

/// Decides whether a call is retried, and when.
#[derive(Clone, Debug)]
pub(super) struct RetryPolicy {
    /// The maximum number of attempts, including the first.
    pub(super) max_attempts: u32,
    /// The maximum wait before the second attempt. It doubles with each attempt.
    pub(super) base: Duration,
    /// The maximum wait before any attempt. A `Retry-After` of Lambda may be longer.
    pub(super) cap: Duration,
}

impl RetryPolicy {
    /// Returns the wait before the next attempt, or `None` if none follows. `attempts` is the number
    /// of attempts so far, and `random` is evenly distributed over 0..1.
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
        let retry_after = error.as_service_error().and_then(|error| error.retry_after);
        Some(self.backoff(attempts, random).max(retry_after.unwrap_or_default()))
    }

    /// Returns a wait with full jitter: a random time up to a bound, so that clients that failed at
    /// the same time do not retry at the same time
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

/// Returns whether a call is retried after this error. A client must not retry a POST
/// automatically unless it knows that the server did not apply it (RFC 9110, section 9.2.2).
fn is_retried(error: &Error, retry_after_send: bool) -> bool {
    match error.kind() {
        // The request was not processed, even if there was a connection.
        ErrorKind::Connect(_) => error.is_transient(),
        ErrorKind::Service(error) if error.may_have_run() => retry_after_send && error.is_gateway(),
        ErrorKind::Service(error) => error.is_transient(),
        ErrorKind::Broken(_) => retry_after_send,
        // The attempt timed out. After the deadline of the call there is no time for another.
        ErrorKind::Timeout { .. } => retry_after_send || !error.may_have_run(),
        // The next attempt would fail in the same way.
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::Response;

    use super::super::{ServiceError, TimeoutLimit, TimeoutPhase};
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
        Error::timeout(Duration::ZERO, TimeoutLimit::Deadline, TimeoutPhase::Response, may_have_run)
    }

    #[test]
    fn call_that_may_have_run_is_retried_only_by_choice() {
        let policy = RetryPolicy::default();
        for (error, by_default, by_choice) in [
            (connect(), true, true),
            (service(429, None), true, true),
            (service(500, None), false, true),
            (service(503, None), false, true),
            (Error::no_response("reset"), false, true),
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
    fn call_that_is_retried_by_default_cannot_have_run() {
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
    fn first_attempt_counts() {
        let policy = RetryPolicy { max_attempts: 3, ..RetryPolicy::default() };
        let goes_on = [1, 2, 3, 4].map(|made| policy.delay(&connect(), made, false, 0.5).is_some());
        assert_eq!(goes_on, [true, true, false, false]);
    }

    #[test]
    fn bound_of_the_wait_doubles_up_to_the_cap() {
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
    fn retry_after_is_the_minimum_wait() {
        let policy = RetryPolicy::default();
        for (retry_after, expected) in [("0", 100), ("1", 1000), ("60", 60_000)] {
            let delay = policy.delay(&service(429, Some(retry_after)), 1, false, 1.0);
            assert_eq!(delay, Some(Duration::from_millis(expected)), "{retry_after}");
        }
        let endless = policy.delay(&service(429, Some("99999999999999999999")), 1, false, 0.5);
        assert_eq!(endless, Some(Duration::from_secs(u64::MAX)));
    }
}
