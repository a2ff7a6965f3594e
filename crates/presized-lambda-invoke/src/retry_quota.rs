//! The quota of retries that all calls of a client share.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{Error, ErrorKind};

/// A bucket of tokens that retries are paid from, as in the standard mode of the AWS SDKs
/// (<https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html>).
///
/// Without it, a service that is overloaded gets three times its load just then.
#[derive(Debug)]
pub(super) struct RetryQuota {
    capacity: u32,
    left: AtomicU32,
}

impl RetryQuota {
    pub(super) fn new(capacity: u32) -> Self {
        Self { capacity, left: AtomicU32::new(capacity) }
    }

    /// Returns the number of tokens that are left.
    pub(super) fn left(&self) -> u32 {
        self.left.load(Ordering::Relaxed)
    }

    /// Takes the tokens for a retry after this error and returns their number, or takes nothing and
    /// returns `None` if too few are left.
    pub(super) fn take(&self, error: &Error) -> Option<u32> {
        let cost = cost(error);
        self.update(|left| left.checked_sub(cost)).then_some(cost)
    }

    /// Puts back what a call took for its last retry if it has succeeded. A call without a retry,
    /// which took nothing, puts back one token. The tokens of retries that failed are lost.
    pub(super) fn succeeded(&self, taken: u32) {
        let tokens = taken.max(1);
        // A full bucket stays untouched, so that calls do not contend for its cache line.
        self.update(|left| {
            (left < self.capacity).then(|| left.saturating_add(tokens).min(self.capacity))
        });
    }

    fn update(&self, change: impl Fn(u32) -> Option<u32>) -> bool {
        // No other memory is published by it.
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change).is_ok()
    }
}

/// Returns the number of tokens that a retry after this error costs. The AWS SDKs take twice as
/// many after a timeout, and the one for Rust also after another failure of the connection.
fn cost(error: &Error) -> u32 {
    match error.kind() {
        ErrorKind::Timeout { .. } | ErrorKind::Connect(_) | ErrorKind::Broken(_) => 10,
        _ => 5,
    }
}

/// The tokens of the AWS SDKs.
pub(super) const RETRY_QUOTA: u32 = 500;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use http::Response;

    use super::super::{ServiceError, TimeoutLimit, TimeoutPhase};
    use super::*;

    fn service() -> Error {
        let (head, ()) = Response::builder().status(503).body(()).unwrap().into_parts();
        Error::service(ServiceError::parse(&head, Bytes::new()))
    }

    #[test]
    fn retry_without_a_response_costs_twice_as_much() {
        for (error, cost) in [
            (service(), 5),
            (Error::unsent(ErrorKind::Connect("refused".into())), 10),
            (Error::no_response("reset"), 10),
            (
                Error::timeout(
                    Duration::ZERO,
                    TimeoutLimit::Deadline,
                    TimeoutPhase::Response,
                    true,
                ),
                10,
            ),
        ] {
            let quota = RetryQuota::new(12);
            assert_eq!((quota.take(&error), quota.left()), (Some(cost), 12 - cost), "{error:?}");
        }
    }

    #[test]
    fn retry_that_costs_more_than_is_left_takes_nothing() {
        let quota = RetryQuota::new(9);
        assert_eq!((quota.take(&Error::no_response("reset")), quota.left()), (None, 9));
        assert_eq!((quota.take(&service()), quota.left()), (Some(5), 4));
        assert_eq!((quota.take(&service()), quota.left()), (None, 4));
    }

    #[test]
    fn success_puts_back_the_last_retry_or_one_token_up_to_the_capacity() {
        for (left, taken, then) in
            [(10, 0, 11), (10, 5, 15), (10, 10, 20), (18, 5, 20), (20, 0, 20)]
        {
            let quota = RetryQuota { capacity: 20, left: AtomicU32::new(left) };
            quota.succeeded(taken);
            assert_eq!(quota.left(), then, "{left} left, {taken} taken");
        }
    }
}
