//! The body and the headers of a report, in the form that the Runtime API accepts.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};

use super::ErrorReport;
use super::json_text::{self, cut};
use crate::wire::{FUNCTION_ERROR_TYPE, RESPONSE_MAX, XRAY_ERROR_CAUSE, XRAY_ERROR_CAUSE_MAX};

impl ErrorReport {
    /// Returns the report in JSON, cut to the length that the Runtime API accepts.
    pub(crate) fn body(&self) -> Bytes {
        self.to_json_within(usize::try_from(RESPONSE_MAX).unwrap_or(usize::MAX))
    }

    /// Returns the report in JSON.
    fn to_json(&self) -> Bytes {
        // Writing strings as JSON into memory does not fail.
        serde_json::to_vec(self).map(Bytes::from).unwrap_or_default()
    }

    /// Returns the report in JSON of at most `max` bytes. `max` must be at least a few hundred.
    ///
    /// Leaves out the last frames first, and then the ends of message and type.
    pub(crate) fn to_json_within(&self, max: usize) -> Bytes {
        let whole = self.to_json();
        if whole.len() <= max {
            return whole;
        }
        let mut short =
            Self::new(cut(&self.error_type, NAME_LEN), cut(&self.error_message, max / 2));
        let mut room = max.saturating_sub(short.to_json().len());
        for frame in &self.stack_trace {
            // Two quotes and a comma.
            let Some(left) = room.checked_sub(json_text::len(frame) + 3) else { break };
            room = left;
            short.stack_trace.push(frame.clone());
        }
        short.to_json()
    }

    /// Returns the headers of the report.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let cause = self.xray_cause.as_ref();
        let cause = cause.and_then(|cause| json_text::to_ascii(cause, XRAY_ERROR_CAUSE_MAX));
        let cause = cause.and_then(|cause| HeaderValue::try_from(cause).ok());
        [(CONTENT_TYPE, JSON), (FUNCTION_ERROR_TYPE, self.header_type())]
            .into_iter()
            .chain(cause.map(|cause| (XRAY_ERROR_CAUSE, cause)))
    }

    /// Returns the type in the form that Lambda accepts in a header: `Runtime.` or `Function.`, and
    /// a word that begins with a capital letter.
    pub(crate) fn header_type(&self) -> HeaderValue {
        let (origin, name) = match self.error_type.split_once('.') {
            Some((origin @ ("Runtime" | "Function"), name)) => (origin, name),
            _ => ("Function", &*self.error_type),
        };
        let mut letters = name
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .skip_while(char::is_ascii_digit)
            .take(NAME_LEN);
        let text = match letters.next() {
            Some(first) => {
                let rest: String = letters.collect();
                format!("{origin}.{}{rest}", first.to_ascii_uppercase())
            }
            None => format!("{origin}.Unknown"),
        };
        HeaderValue::try_from(text).unwrap_or(UNKNOWN)
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

const UNKNOWN: HeaderValue = HeaderValue::from_static("Function.Unknown");

/// The maximum length of the name in a type. The server limits the length of all headers.
const NAME_LEN: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_in_a_header_has_an_origin_and_a_name() {
        let table = [
            ("Runtime.ExitError", "Runtime.ExitError"),
            ("Function.Panic", "Function.Panic"),
            ("ParseIntError", "Function.ParseIntError"),
            ("not found", "Function.Notfound"),
            ("Function.a\r\nb: c", "Function.Abc"),
            ("Runtime.", "Runtime.Unknown"),
            ("Other.Name", "Function.OtherName"),
            ("404NotFound", "Function.NotFound"),
            ("Fehler\u{e4}", "Function.Fehler"),
            ("\u{540d}", "Function.Unknown"),
            ("", "Function.Unknown"),
        ];
        for (error_type, expected) in table {
            assert_eq!(ErrorReport::new(error_type, "").header_type(), expected, "{error_type:?}");
        }
        let long = ErrorReport::new("a".repeat(10_000), "").header_type();
        assert_eq!(long.len(), "Function.".len() + 128);
    }

    #[test]
    fn report_is_json_with_three_members() {
        let report = ErrorReport::new("Late", "said \"no\"\n").with_stack_trace(["a", "b"]);
        let expected =
            r#"{"errorType":"Late","errorMessage":"said \"no\"\n","stackTrace":["a","b"]}"#;
        assert_eq!(report.with_xray_cause("{}").to_json(), expected);
    }

    #[test]
    fn xray_cause_is_sent_in_ascii_up_to_64_kib() {
        let text = |len: usize| format!("\"{}\"", "x".repeat(len - 2));
        let table = [
            (Bytes::from("{}"), Some("{}".to_owned())),
            (text(64 << 10).into(), Some(text(64 << 10))),
            (text((64 << 10) + 1).into(), None),
            ("{\n\t\"a\":\r\n1}".into(), Some("{ \t\"a\":  1}".to_owned())),
            ("\"\u{e9}\u{1f34e}\"".into(), Some(r#""\u00e9\ud83c\udf4e""#.to_owned())),
            // Six bytes for each in ASCII.
            (format!("\"{}\"", "\u{e9}".repeat(11_000)).into(), None),
            (Bytes::from_static(b"\"\xe9\""), None),
            (Bytes::from_static(b"\"\0\""), None),
        ];
        for (cause, expected) in table {
            let begin = cause.slice(..cause.len().min(20));
            let report = ErrorReport::new("A", "").with_xray_cause(cause);
            let sent = report.headers().find(|(name, _)| name == XRAY_ERROR_CAUSE);
            let sent = sent.map(|(_, value)| value.to_str().unwrap().to_owned());
            assert!(sent == expected, "{begin:?}");
        }
    }

    #[test]
    fn report_over_the_limit_is_cut_and_keeps_its_type() {
        let long = "x".repeat(7 << 20);
        let table = [
            (ErrorReport::new("T", &*long), 0),
            (ErrorReport::new("T", &*long).with_stack_trace(["frame"]), 1),
            (ErrorReport::new("T", "m").with_stack_trace([&*long, "frame"]), 0),
            (ErrorReport::new("T", "m").with_stack_trace(["frame", &*long]), 1),
        ];
        for (report, frames) in table {
            let body = report.body();
            assert!(body.len() <= 6_291_556, "{} bytes", body.len());
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["errorType"], "T");
            let message = body["errorMessage"].as_str().unwrap();
            assert!(message == "m" || message.ends_with("x\u{2026}"), "{} bytes", message.len());
            assert_eq!(body["stackTrace"].as_array().unwrap().len(), frames);
        }
    }
}
