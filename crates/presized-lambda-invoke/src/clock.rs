//! The time that requests are signed with.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use http::header::{DATE, HeaderMap};

/// The clock of this machine, corrected by what an answer has told about it.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// Seconds that Lambda is ahead.
    offset: AtomicI64,
}

impl Clock {
    /// The time to sign with.
    pub(super) fn now(&self) -> SystemTime {
        shifted(SystemTime::now(), self.offset.load(Ordering::Relaxed))
    }

    /// Learns from an answer which refuses what was signed at `signed` by [`now`](Self::now).
    /// True where the difference is large enough to be the reason for it; from then on `now` is
    /// right.
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

/// How many seconds `to` is after `from`.
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

/// AWS accepts signatures of the last and the next 5 minutes
/// (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html>).
/// A minute less, since an answer has been under way.
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
    fn minutes_of_difference_are_corrected_and_kept() {
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
    fn two_calls_that_were_signed_too_late_are_both_told() {
        let clock = Clock::default();
        let signed = clock.now();
        let answer = dated(shifted(signed, 3600));
        assert!(clock.learn(signed, &answer));
        assert!(clock.learn(signed, &answer));
        assert!(!clock.learn(clock.now(), &answer));
    }

    #[test]
    fn an_answer_without_a_date_teaches_nothing() {
        let clock = Clock::default();
        let odd = HeaderMap::from_iter([(DATE, HeaderValue::from_static("yesterday"))]);
        assert!(!clock.learn(clock.now(), &HeaderMap::new()));
        assert!(!clock.learn(clock.now(), &odd));
    }
}
