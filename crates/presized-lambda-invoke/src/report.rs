//! What a function says of its error, out of the payload of an answer.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// As much of it as could be read. What is of another type, or missing, is no reason to lose
/// the rest.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Report {
    pub(super) error_type: Option<String>,
    pub(super) error_message: Option<String>,
    pub(super) stack_trace: Vec<String>,
}

impl Report {
    pub(super) fn read(payload: &[u8]) -> Self {
        let members: Members<'_> = serde_json::from_slice(payload).unwrap_or_default();
        Self {
            error_type: members.error_type.and_then(string),
            error_message: members.error_message.and_then(string),
            stack_trace: members.stack_trace.or(members.trace).map(lines).unwrap_or_default(),
        }
    }
}

/// Slices of the payload. Read as values they could take a hundred times its size, which is up
/// to the function, and are in no budget.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members<'a> {
    #[serde(borrow)]
    error_type: Option<&'a RawValue>,
    #[serde(borrow)]
    error_message: Option<&'a RawValue>,
    #[serde(borrow)]
    stack_trace: Option<&'a RawValue>,
    // In Node.js.
    #[serde(borrow)]
    trace: Option<&'a RawValue>,
}

/// What a string says, and the JSON of anything else.
fn string(value: &RawValue) -> Option<String> {
    match value.get() {
        "null" => None,
        json if json.starts_with('"') => serde_json::from_str(json).ok(),
        json => Some(json.to_owned()),
    }
}

/// A trace is a list of lines, one text of many lines (.NET), or a list of frames (Ruby and
/// others).
fn lines(value: &RawValue) -> Vec<String> {
    let json = value.get();
    if json.starts_with('[') {
        return serde_json::from_str(json).map_or_else(|_| Vec::new(), |Lines(lines)| lines);
    }
    if json.starts_with('"') {
        let text = string(value).unwrap_or_default();
        return text.lines().take(LINES).map(str::to_owned).collect();
    }
    Vec::new()
}

/// The first lines of a list.
struct Lines(Vec<String>);

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = Lines;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Lines, A::Error> {
                let mut lines = Vec::new();
                // To its end, since what is left of it would be an error.
                while let Some(line) = list.next_element::<&RawValue>()? {
                    if lines.len() < LINES {
                        lines.extend(string(line));
                    }
                }
                Ok(Lines(lines))
            }
        }

        deserializer.deserialize_seq(List)
    }
}

/// The deepest trace that Java takes by itself. A list of zeros costs thirty times its size.
const LINES: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &str) -> Report {
        Report::read(payload.as_bytes())
    }

    #[test]
    fn one_member_of_another_type_is_no_reason_to_lose_the_rest() {
        for (member, message) in [
            (r#""m""#, Some("m")),
            ("null", None),
            ("7", Some("7")),
            (r#"{"a":[1, 2]}"#, Some(r#"{"a":[1, 2]}"#)),
            (r#""\ud800""#, None),
        ] {
            let report = read(&format!(r#"{{"errorMessage":{member},"errorType":"E"}}"#));
            assert_eq!(report.error_message.as_deref(), message, "{member}");
            assert_eq!(report.error_type.as_deref(), Some("E"), "{member}");
        }
    }

    #[test]
    fn depth_is_no_reason_either() {
        let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
        let report = read(&format!(r#"{{"errorType":"E","cause":{open}{close}}}"#));
        assert_eq!(report.error_type.as_deref(), Some("E"));
        let report = read(&format!(r#"{{"errorType":"E","stackTrace":{open}{close}}}"#));
        assert_eq!((report.error_type.as_deref(), report.stack_trace.len()), (Some("E"), 1));
    }

    #[test]
    fn no_more_lines_are_kept_than_a_trace_has() {
        let list = format!(r#"{{"stackTrace":[{}0]}}"#, "0,".repeat(5000));
        let text = format!(r#"{{"stackTrace":"{}"}}"#, "at f\\n".repeat(5000));
        for payload in [list, text] {
            assert_eq!(read(&payload).stack_trace.len(), LINES);
        }
    }

    #[test]
    fn what_is_no_report_says_nothing() {
        for payload in [&b""[..], b"{", b"[]", b"\"Task timed out\"", b"null", b"\xff"] {
            assert_eq!(Report::read(payload), Report::default());
        }
    }
}
