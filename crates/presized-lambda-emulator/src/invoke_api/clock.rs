//! The clock of the Invoke API, which a fault can set wrong.

use std::time::SystemTime;

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use http::{HeaderMap, HeaderValue};

use super::ServiceError;

/// A clock that is wrong.
pub(super) struct SkewedClock {
    now: DateTime,
}

impl SkewedClock {
    pub(super) fn new(seconds: i64) -> Self {
        let now = DateTime::from(SystemTime::now()).secs();
        Self { now: DateTime::from_secs(now.saturating_add(seconds)) }
    }

    /// Returns the value of `Date`.
    pub(super) fn date(&self) -> HeaderValue {
        let date = self.now.fmt(Format::HttpDate).ok();
        date.and_then(|date| date.try_into().ok()).unwrap_or(HeaderValue::from_static("unknown"))
    }

    /// Checks the time at which a request was signed.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), ServiceError> {
        let signed = headers.get("x-amz-date").and_then(|date| date.to_str().ok());
        let Some((text, signed)) = signed.and_then(|text| Some((text, parse(text)?))) else {
            return Ok(());
        };
        let (now, signed) = (self.now.secs(), signed.secs());
        let at = |seconds| compact(DateTime::from_secs(seconds));
        let error = if signed < now - WINDOW {
            let earliest = at(now - WINDOW);
            format!(
                "Signature expired: {text} is now earlier than {earliest} ({} - 5 min.)",
                at(now)
            )
        } else if signed > now + WINDOW {
            let latest = at(now + WINDOW);
            format!(
                "Signature not yet current: {text} is still later than {latest} ({} + 5 min.)",
                at(now)
            )
        } else {
            return Ok(());
        };
        Err(ServiceError::ClockSkew(error))
    }
}

/// Parses a time such as `20150830T123600Z`.
fn parse(text: &str) -> Option<DateTime> {
    let part = |range| text.get(range);
    let [year, month, day] = [part(0..4)?, part(4..6)?, part(6..8)?];
    let [hour, minute, second] = [part(9..11)?, part(11..13)?, part(13..15)?];
    let text = format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z");
    DateTime::from_str(&text, Format::DateTime).ok()
}

fn compact(time: DateTime) -> String {
    time.to_string().replace(['-', ':'], "")
}

/// The maximum difference of the time of a signature in seconds
/// (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html>).
const WINDOW: i64 = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_valid_within_five_minutes() {
        let clock = SkewedClock { now: DateTime::from_secs(1_440_938_160) };
        assert_eq!(clock.date(), "Sun, 30 Aug 2015 12:36:00 GMT");
        for (signed, message) in [
            ("20150830T123600Z", None),
            ("20150830T123100Z", None),
            ("20150830T124100Z", None),
            (
                "20150830T123059Z",
                Some(
                    "Signature expired: 20150830T123059Z is now earlier than 20150830T123100Z (20150830T123600Z - 5 min.)",
                ),
            ),
            (
                "20150830T124101Z",
                Some(
                    "Signature not yet current: 20150830T124101Z is still later than 20150830T124100Z (20150830T123600Z + 5 min.)",
                ),
            ),
        ] {
            let headers = HeaderMap::from_iter([(
                http::HeaderName::from_static("x-amz-date"),
                HeaderValue::from_static(signed),
            )]);
            let refused = clock.check(&headers).err().map(|error| match error {
                ServiceError::ClockSkew(message) => message,
                other => panic!("{other:?}"),
            });
            assert_eq!(refused.as_deref(), message);
        }
    }
}
