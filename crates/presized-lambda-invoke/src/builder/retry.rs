use std::time::Duration;

use super::ClientBuilder;

impl ClientBuilder {
    /// Sets the maximum number of attempts of a call, including the first. The default is 3, and 0
    /// counts as 1.
    ///
    /// If Lambda refuses a signature because the clock of this machine is wrong, one more attempt
    /// follows with the time of Lambda. If Lambda refuses credentials that have expired, the
    /// provider is asked again, and one more attempt follows if it gives others.
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.retry.max_attempts = attempts.max(1);
        self
    }

    /// Sets the initial and the maximum backoff. The default is 100 milliseconds and 20 seconds.
    ///
    /// The backoff doubles with each attempt up to the maximum. The wait is a random time from 0
    /// to the backoff, or the `Retry-After` of Lambda if that is longer.
    pub fn backoff(mut self, initial: Duration, maximum: Duration) -> Self {
        self.retry.base = initial;
        self.retry.cap = maximum;
        self
    }

    /// Sets the tokens that the retries of all calls together may use. The default is 500. With 0
    /// there are no retries, and [`u32::MAX`] is practically no bound.
    ///
    /// A retry takes 5 tokens, or 10 if the attempt before it got no response. A call that succeeds
    /// puts back the tokens of its last retry, or 1 token if it needed none. If too few tokens are
    /// left, a call fails after its current attempt, so that a service that is down does not get
    /// several times its load: see
    /// [`is_retry_quota_exhausted`](crate::Error::is_retry_quota_exhausted). The rule is that of the
    /// [standard mode](https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html)
    /// of the AWS SDKs.
    pub fn retry_quota(mut self, tokens: u32) -> Self {
        self.retry_quota = tokens;
        self
    }

    /// Sets whether a call is retried although the function may have run. The default is false,
    /// because the function could run twice.
    ///
    /// The function may have run if the connection broke or the attempt timed out after the
    /// request was sent, or if a gateway sent status 502, 503 or 504.
    pub fn retry_after_send(mut self, retry: bool) -> Self {
        self.defaults.retry_after_send = retry;
        self
    }
}
