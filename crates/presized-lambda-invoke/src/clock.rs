//! The clock for signatures, corrected by the time of Lambda.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use http::header::{DATE, HeaderMap};
use tokio::time::Instant;

/// The clock of this machine, corrected by the date of a response.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// The seconds that Lambda is ahead.
    offset: AtomicI64,
}

impl Clock {
    /// Reads the clock to sign a request.
    pub(super) fn read(&self) -> Reading {
        Reading { time: self.now(), at: Instant::now() }
    }

    /// Returns the time now.
    pub(super) fn now(&self) -> SystemTime {
        shifted(SystemTime::now(), self.offset.load(Ordering::Relaxed))
    }

    /// Corrects the clock by the date of a response that refuses a request, if the clock was wrong
    /// when the request was signed. `signed` is the reading for the signature, and the response has
    /// just arrived: a refusal that comes minutes after the signature does not show a wrong clock.
    ///
    /// Returns whether it corrected the clock: the difference was large enough to be the reason of
    /// the refusal.
    pub(super) fn learn(&self, signed: Reading, headers: &HeaderMap) -> bool {
        let date = headers.get(DATE).and_then(|value| value.to_str().ok());
        let Some(theirs) = date.and_then(|date| httpdate::parse_http_date(date).ok()) else {
            return false;
        };
        if seconds_from(signed.now(), theirs).unsigned_abs() < TOLERATED.as_secs() {
            return false;
        }
        let offset = seconds_from(SystemTime::now(), theirs);
        if offset.unsigned_abs() > PLAUSIBLE.as_secs() {
            return false;
        }
        self.offset.store(offset, Ordering::Relaxed);
        true
    }
}

/// A reading of the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) time: SystemTime,
    at: Instant,
}

impl Reading {
    /// Returns the time now, by the clock as it was at the reading.
    fn now(self) -> SystemTime {
        self.time.checked_add(self.at.elapsed()).unwrap_or(self.time)
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

/// The difference above which the date is wrong and not the clock: 100 years. A clock without a
/// battery begins in 1970. After a date at the end of the year 9999, no request could be signed, so
/// that no response would correct the clock again.
const PLAUSIBLE: Duration = Duration::from_secs(100 * 365 * 86_400);

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
            assert_eq!(clock.learn(clock.read(), &dated(theirs)), learned, "{ahead}");
            let off = seconds_from(clock.now(), theirs).abs();
            assert_eq!(off < 5, ahead == 0 || learned, "{ahead}: {off} s");
        }
    }

    #[test]
    fn two_calls_with_a_wrong_signature_time_are_both_told() {
        let clock = Clock::default();
        let signed = clock.read();
        let response = dated(shifted(signed.time, 3600));
        assert!(clock.learn(signed, &response));
        assert!(clock.learn(signed, &response));
        assert!(!clock.learn(clock.read(), &response));
    }

    #[test]
    fn response_without_a_valid_date_corrects_nothing() {
        let clock = Clock::default();
        let odd = HeaderMap::from_iter([(DATE, HeaderValue::from_static("yesterday"))]);
        assert!(!clock.learn(clock.read(), &HeaderMap::new()));
        assert!(!clock.learn(clock.read(), &odd));
    }

    #[test]
    fn date_more_than_a_century_away_corrects_nothing() {
        let last = httpdate::parse_http_date("Fri, 31 Dec 9999 23:59:59 GMT").unwrap();
        for (theirs, learned) in [
            (shifted(SystemTime::now(), 99 * 365 * 86_400), true),
            (shifted(SystemTime::now(), 101 * 365 * 86_400), false),
            (last, false),
        ] {
            let clock = Clock::default();
            assert_eq!(clock.learn(clock.read(), &dated(theirs)), learned, "{theirs:?}");
            let off = seconds_from(SystemTime::now(), clock.now()).abs();
            assert_eq!(off > 5, learned, "{theirs:?}: {off} s");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn refusal_that_arrives_minutes_after_the_signature_is_not_a_wrong_clock() {
        for (ahead, learned) in [(0, false), (3600, true), (-3600, true)] {
            let clock = Clock::default();
            let signed = clock.read();
            tokio::time::advance(Duration::from_secs(600)).await;
            let arrival = signed.time + Duration::from_secs(600);
            let response = dated(shifted(arrival, ahead));
            assert_eq!(clock.learn(signed, &response), learned, "{ahead}");
        }
    }
}
