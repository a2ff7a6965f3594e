//! How a failure is told to Lambda.

use std::any::{self, Any};
use std::backtrace::Backtrace;
use std::error::Error;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use serde::Serialize;

use super::wire::{FUNCTION_ERROR_TYPE, XRAY_ERROR_CAUSE, XRAY_ERROR_CAUSE_MAX};

/// How a failure is told to Lambda, which tells the caller, and logs it.
///
/// One is made of every error there is, by `?` or [`From`]: its type is the name of the Rust type,
/// and its message has those of its sources behind its own.
///
/// # Examples
///
/// ```
/// use presized_lambda_runtime::ErrorReport;
///
/// fn handler(event: &str) -> Result<i32, ErrorReport> {
///     let number: i32 = event.parse()?;
///     number.checked_add(1).ok_or_else(|| ErrorReport::new("TooLarge", "no number comes next"))
/// }
///
/// assert_eq!(handler("1"), Ok(2));
/// assert_eq!(handler("x").unwrap_err().error_type, "ParseIntError");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ErrorReport {
    /// What went wrong, for others to match on: AWS Step Functions do.
    pub error_type: String,
    /// What went wrong, for people to read.
    pub error_message: String,
    /// Where, one frame or cause an element.
    pub stack_trace: Vec<String>,
    /// A document in JSON that X-Ray shows. From 1 MiB on Lambda drops it, and so does this.
    #[serde(skip)]
    pub xray_cause: Option<Bytes>,
}

impl ErrorReport {
    /// A report without a stack trace.
    ///
    /// Lambda counts failures by a type that looks like `Function.Name` or `Runtime.Name`
    /// ([Runtime API](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html#runtimes-api-invokeerror)),
    /// beside the one given here: another is put behind `Function.`, without what a name cannot
    /// have.
    pub fn new(error_type: impl Into<String>, error_message: impl Into<String>) -> Self {
        Self {
            error_type: error_type.into(),
            error_message: error_message.into(),
            stack_trace: Vec::new(),
            xray_cause: None,
        }
    }

    /// The report of an error whose type is not known, as of a `Box<dyn Error>`.
    pub fn from_dyn(error_type: impl Into<String>, error: &dyn Error) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            let text = error.to_string();
            // Many say what their source says.
            if !message.ends_with(&text) {
                message.push_str(": ");
                message.push_str(&text);
            }
            source = error.source();
        }
        Self::new(error_type, message)
    }

    /// Adds where it went wrong, one frame an element.
    #[must_use]
    pub fn with_stack_trace<T: Into<String>>(
        mut self,
        frames: impl IntoIterator<Item = T>,
    ) -> Self {
        self.stack_trace = frames.into_iter().map(Into::into).collect();
        self
    }

    /// Adds where it went wrong, as far as that was captured.
    #[must_use]
    pub fn with_backtrace(self, backtrace: &Backtrace) -> Self {
        let backtrace = backtrace.to_string();
        self.with_stack_trace(backtrace.lines().map(str::trim))
    }

    /// Adds a document in JSON for X-Ray.
    #[must_use]
    pub fn with_xray_cause(mut self, json: impl Into<Bytes>) -> Self {
        self.xray_cause = Some(json.into());
        self
    }

    /// The report of a panic, from what it carries.
    pub(super) fn from_panic(payload: &(dyn Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self::new(PANIC, message.unwrap_or("the panic has no message"))
    }

    /// What is posted.
    pub(super) fn to_json(&self) -> Bytes {
        // Strings and a list of strings: there is nothing in them that JSON cannot write.
        serde_json::to_vec(self).map(Bytes::from).unwrap_or_default()
    }

    /// The same in at most `most` bytes, which are several hundred: the last frames are left out
    /// first, and then the ends of message and type.
    pub(super) fn to_json_within(&self, most: usize) -> Bytes {
        let whole = self.to_json();
        if whole.len() <= most {
            return whole;
        }
        let mut short = Self::new(
            shortened(&self.error_type, NAME_LEN),
            shortened(&self.error_message, most / 2),
        );
        let mut room = most.saturating_sub(short.to_json().len());
        for frame in &self.stack_trace {
            // Two quotes and a comma.
            let Some(less) = room.checked_sub(json_len(frame) + 3) else { break };
            room = less;
            short.stack_trace.push(frame.clone());
        }
        short.to_json()
    }

    /// What is told beside it.
    pub(super) fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let cause = self.xray_cause.as_ref().filter(|cause| cause.len() <= XRAY_ERROR_CAUSE_MAX);
        let cause = cause.and_then(|cause| HeaderValue::from_maybe_shared(cause.clone()).ok());
        [(CONTENT_TYPE, JSON), (FUNCTION_ERROR_TYPE, self.header_type())]
            .into_iter()
            .chain(cause.map(|cause| (XRAY_ERROR_CAUSE, cause)))
    }

    /// The type as Lambda takes it in a header: `Runtime.` or `Function.`, and a word that begins
    /// with a capital letter.
    pub(super) fn header_type(&self) -> HeaderValue {
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

impl<E: Error> From<E> for ErrorReport {
    fn from(error: E) -> Self {
        Self::from_dyn(short_name(any::type_name::<E>()), &error)
    }
}

/// The name of a type without its path and its parameters.
fn short_name(type_name: &str) -> &str {
    let without_parameters = type_name.split('<').next().unwrap_or(type_name);
    without_parameters.rsplit("::").next().unwrap_or(type_name)
}

/// The beginning of `text` that JSON can have within `most` bytes, with a mark where it is cut.
fn shortened(text: &str, most: usize) -> String {
    const CUT: char = '\u{2026}';
    if json_len(text) <= most {
        return text.to_owned();
    }
    let mut room = most.saturating_sub(CUT.len_utf8());
    let fits = |c: &char| {
        let less = room.checked_sub(json_char_len(*c));
        room = less.unwrap_or(0);
        less.is_some()
    };
    text.chars().take_while(fits).chain([CUT]).collect()
}

/// Bytes of a text in JSON, without the quotes.
fn json_len(text: &str) -> usize {
    text.chars().map(json_char_len).sum()
}

/// As serde_json writes it (RFC 8259, section 7).
fn json_char_len(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\x08' | '\x0c' => 2,
        '\0'..'\x20' => 6,
        _ => c.len_utf8(),
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

const UNKNOWN: HeaderValue = HeaderValue::from_static("Function.Unknown");

const PANIC: &str = "Function.Panic";

/// No name is longer. A head has to fit into what the server reads of one.
const NAME_LEN: usize = 128;

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::io;

    use super::*;

    #[test]
    fn a_type_in_a_header_is_a_name() {
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
    fn a_report_is_json_with_three_members() {
        let report = ErrorReport::new("Late", "said \"no\"\n").with_stack_trace(["a", "b"]);
        let expected =
            r#"{"errorType":"Late","errorMessage":"said \"no\"\n","stackTrace":["a","b"]}"#;
        assert_eq!(report.with_xray_cause("{}").to_json(), expected);
    }

    #[test]
    fn a_cause_that_lambda_would_drop_is_not_sent() {
        let table = [
            (Bytes::from_static(b"{}"), true),
            (vec![b' '; (1 << 20) - 1].into(), true),
            (vec![b' '; 1 << 20].into(), false),
            (Bytes::from_static(b"{\n}"), false),
        ];
        for (cause, sent) in table {
            let len = cause.len();
            let report = ErrorReport::new("A", "").with_xray_cause(cause);
            assert_eq!(
                report.headers().any(|(name, _)| name == XRAY_ERROR_CAUSE),
                sent,
                "{len} bytes"
            );
        }
    }

    #[derive(Debug)]
    struct Outer<T>(T);

    impl<T> fmt::Display for Outer<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("cannot load")
        }
    }

    impl<T: Error + 'static> Error for Outer<T> {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn an_error_is_told_with_its_sources() {
        let report = ErrorReport::from(Outer(io::Error::other(Outer(fmt::Error))));
        assert_eq!(report.error_type, "Outer");
        let inner = fmt::Error.to_string();
        assert_eq!(report.error_message, format!("cannot load: {inner}"));
    }

    #[test]
    fn a_panic_is_told_by_its_message() {
        let table: [(Box<dyn Any + Send>, _); 3] = [
            (Box::new("literal"), "literal"),
            (Box::new("formatted".to_owned()), "formatted"),
            (Box::new(5), "the panic has no message"),
        ];
        for (payload, message) in table {
            assert_eq!(ErrorReport::from_panic(&*payload), ErrorReport::new(PANIC, message));
        }
    }
}
