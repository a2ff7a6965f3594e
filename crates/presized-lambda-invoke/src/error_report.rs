//! The error report that a runtime writes when a function fails.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an error report. A member that is missing or has another type does not affect
/// the others.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ErrorReport {
    pub(super) error_type: Option<String>,
    pub(super) error_message: Option<String>,
    pub(super) stack_trace: Vec<String>,
}

impl ErrorReport {
    /// Parses the payload. It is empty if the payload is not a JSON object.
    pub(super) fn parse(payload: &[u8]) -> Self {
        let members: Members<'_> = serde_json::from_slice(payload).unwrap_or_default();
        Self {
            error_type: members.error_type.and_then(string),
            error_message: members.error_message.and_then(string),
            stack_trace: members.stack_trace.or(members.trace).map(lines).unwrap_or_default(),
        }
    }
}

/// The members as slices of the payload. As values they could need a hundred times its memory,
/// depending on the function, and no budget counts them.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members<'a> {
    #[serde(borrow)]
    error_type: Option<&'a RawValue>,
    #[serde(borrow)]
    error_message: Option<&'a RawValue>,
    #[serde(borrow)]
    stack_trace: Option<&'a RawValue>,
    // The name in Node.js.
    #[serde(borrow)]
    trace: Option<&'a RawValue>,
}

/// Returns the content of a JSON string, or the JSON of any other value.
fn string(value: &RawValue) -> Option<String> {
    match value.get() {
        "null" => None,
        json if json.starts_with('"') => serde_json::from_str(json).ok(),
        json => Some(json.to_owned()),
    }
}

/// Returns the lines of a stack trace: a list of lines, one string of many lines (.NET), or a list
/// of objects (Ruby and others).
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
                // The list is read to its end, because serde refuses a list that is not.
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

/// The number of lines that are kept: the deepest trace that Java makes by default. A list of
/// zeros needs thirty times its length in memory.
const LINES: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &str) -> ErrorReport {
        ErrorReport::parse(payload.as_bytes())
    }

    #[test]
    fn member_of_another_type_does_not_affect_the_others() {
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
    fn deeply_nested_member_does_not_affect_the_others() {
        let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
        let report = read(&format!(r#"{{"errorType":"E","cause":{open}{close}}}"#));
        assert_eq!(report.error_type.as_deref(), Some("E"));
        let report = read(&format!(r#"{{"errorType":"E","stackTrace":{open}{close}}}"#));
        assert_eq!((report.error_type.as_deref(), report.stack_trace.len()), (Some("E"), 1));
    }

    #[test]
    fn at_most_1024_lines_of_a_trace_are_kept() {
        let list = format!(r#"{{"stackTrace":[{}0]}}"#, "0,".repeat(5000));
        let text = format!(r#"{{"stackTrace":"{}"}}"#, "at f\\n".repeat(5000));
        for payload in [list, text] {
            assert_eq!(read(&payload).stack_trace.len(), LINES);
        }
    }

    #[test]
    fn payload_that_is_not_a_report_gives_an_empty_one() {
        for payload in [&b""[..], b"{", b"[]", b"\"Task timed out\"", b"null", b"\xff"] {
            assert_eq!(ErrorReport::parse(payload), ErrorReport::default());
        }
    }
}
