//! The clock for signatures, corrected by the time of Lambda.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use http::header::{DATE, HeaderMap};

/// The clock of this machine, corrected by the date of a response.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// The seconds that Lambda is ahead.
    offset: AtomicI64,
}

impl Clock {
    /// Returns the time to sign a request with.
    pub(super) fn now(&self) -> SystemTime {
        shifted(SystemTime::now(), self.offset.load(Ordering::Relaxed))
    }

    /// Corrects the clock by the date of a response that refuses a request, if the clock was wrong
    /// when the request was signed. `signed` is the time of the signature, from
    /// [`now`](Self::now).
    ///
    /// Returns whether it corrected the clock: the difference was large enough to be the reason of
    /// the refusal.
    pub(super) fn learn(&self, signed: SystemTime, headers: &HeaderMap) -> bool {
        let date = headers.get(DATE).and_then(|value| value.to_str().ok());
        let Some(theirs) = date.and_then(|date| httpdate::parse_http_date(date).ok()) else {
            return false;
        };
        if seconds_from(signed, theirs).unsigned_abs() < TOLERATED.as_secs() {
            return false;
        }
        self.offset.store(seconds_from(SystemTime::now(), theirs), Ordering::Relaxed);
        true
    }
}

/// Returns the seconds from `from` to `to`.
fn seconds_from(from: SystemTime, to: SystemTime) -> i64 {
    let seconds = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    match to.duration_since(from) {
        Ok(after) => seconds(after),
        Err(before) => -seconds(before.duration()),
    }
}

fn shifted(time: SystemTime, seconds: i64) -> SystemTime {
    let by = Duration::from_secs(seconds.unsigned_abs());
    let shifted = if seconds < 0 { time.checked_sub(by) } else { time.checked_add(by) };
    shifted.unwrap_or(time)
}

/// The difference that is not corrected. AWS accepts signatures of the last and the next 5 minutes
/// (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html>). This
/// is a minute less, because the response needs time to arrive.
const TOLERATED: Duration = Duration::from_secs(4 * 60);

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn dated(time: SystemTime) -> HeaderMap {
        let date = HeaderValue::try_from(httpdate::fmt_http_date(time)).unwrap();
        HeaderMap::from_iter([(DATE, date)])
    }

    #[test]
    fn difference_of_minutes_is_corrected() {
        for (ahead, learned) in [(0, false), (200, false), (-200, false), (600, true), (-600, true)]
        {
            let clock = Clock::default();
            let theirs = shifted(SystemTime::now(), ahead);
            assert_eq!(clock.learn(clock.now(), &dated(theirs)), learned, "{ahead}");
            let off = seconds_from(clock.now(), theirs).abs();
            assert_eq!(off < 5, ahead == 0 || learned, "{ahead}: {off} s");
        }
    }

    #[test]
    fn two_calls_with_a_wrong_signature_time_are_both_told() {
        let clock = Clock::default();
        let signed = clock.now();
        let response = dated(shifted(signed, 3600));
        assert!(clock.learn(signed, &response));
        assert!(clock.learn(signed, &response));
        assert!(!clock.learn(clock.now(), &response));
    }

    #[test]
    fn response_without_a_valid_date_corrects_nothing() {
        let clock = Clock::default();
        let odd = HeaderMap::from_iter([(DATE, HeaderValue::from_static("yesterday"))]);
        assert!(!clock.learn(clock.now(), &HeaderMap::new()));
        assert!(!clock.learn(clock.now(), &odd));
    }
}
