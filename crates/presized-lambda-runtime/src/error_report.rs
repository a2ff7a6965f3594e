//! The report of a failure, in the format of Lambda.

mod convert;
mod json_text;

use std::any::Any;
use std::backtrace::Backtrace;
use std::error::Error;
use std::fmt;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use serde::Serialize;

pub(super) use self::json_text::cut;
use super::wire::{FUNCTION_ERROR_TYPE, RESPONSE_MAX, XRAY_ERROR_CAUSE, XRAY_ERROR_CAUSE_MAX};

/// Describes a failure. Lambda sends the report to the caller.
///
/// A report over the limit of 6 MiB, or over that of 2.8 KB at the end of a stream, is cut: first the
/// stack trace, then the message, and the type at 128 bytes.
///
/// `?` and [`From`] convert every error that a [`BoxError`](super::BoxError) can hold: any [`Error`] that is `Send`,
/// `Sync` and `'static`, a `Box<dyn Error + Send + Sync>`, an `anyhow::Error`, a `String` and a `&str`.
/// Its message contains the messages of all sources.
///
/// The type of the report is the name of the Rust type, without its path. It is `Error` if there is
/// no such name: for a boxed error, a string and an `anyhow::Error`. If the error is a report in a box,
/// the report is returned as it was. A report among the sources of an error gives its type, its stack
/// trace and its cause to the new report. `anyhow::Error` hides a report that it holds without a
/// context, so return such a report as it is. An error type that contains a report must box it,
/// because a report is not `Unpin`.
///
/// [`from_boxed`](Self::from_boxed) converts a `Box<dyn Error>`, and [`from_dyn`](Self::from_dyn) an
/// error that is borrowed or bound to one thread.
///
/// # Examples
///
/// ```
/// use presized_lambda_runtime::ErrorReport;
///
/// fn handler(event: &str) -> Result<i32, ErrorReport> {
///     let number: i32 = event.parse()?;
///     number.checked_add(1).ok_or_else(|| ErrorReport::new("TooLarge", "number has no successor"))
/// }
///
/// assert_eq!(handler("1"), Ok(2));
/// assert_eq!(handler("x").unwrap_err().error_type, "ParseIntError");
/// ```
///
/// A type that is no [`Error`] can have a conversion of its own, which chooses the type of the report:
///
/// ```
/// use presized_lambda_runtime::ErrorReport;
///
/// enum Refusal {
///     TooLarge { cents: u64 },
///     Closed,
/// }
///
/// impl From<Refusal> for ErrorReport {
///     fn from(refusal: Refusal) -> Self {
///         match refusal {
///             Refusal::TooLarge { cents } => Self::new("Order.TooLarge", format!("{cents} cents")),
///             Refusal::Closed => Self::new("Order.Closed", "the shop is closed"),
///         }
///     }
/// }
///
/// fn handler(cents: u64) -> Result<(), ErrorReport> {
///     if cents > 100 { Err(Refusal::TooLarge { cents })? } else { Err(Refusal::Closed)? }
/// }
///
/// assert_eq!(handler(101).unwrap_err().to_string(), "Order.TooLarge: 101 cents");
/// assert_eq!(handler(1).unwrap_err().error_type, "Order.Closed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ErrorReport {
    /// The type of the error, on which callers such as AWS Step Functions match.
    pub error_type: String,
    /// The message of the error.
    pub error_message: String,
    /// The stack trace. Each element is a frame or a cause.
    pub stack_trace: Vec<String>,
    /// The cause for X-Ray, in JSON.
    ///
    /// It is sent as ASCII, with escapes for other characters. A cause that is not UTF-8, or longer
    /// than 64 KiB in ASCII, is not sent.
    #[serde(skip)]
    pub xray_cause: Option<Bytes>,
}

impl ErrorReport {
    /// Creates a report without a stack trace.
    ///
    /// Lambda counts failures by a second type, which has the form `Function.Name` or `Runtime.Name`
    /// ([Runtime API](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html#runtimes-api-invokeerror)).
    /// A type of another form is sent there as `Function.` and its ASCII letters and digits.
    pub fn new(error_type: impl Into<String>, error_message: impl Into<String>) -> Self {
        Self {
            error_type: error_type.into(),
            error_message: error_message.into(),
            stack_trace: Vec::new(),
            xray_cause: None,
        }
    }

    /// Creates a report of a boxed error, which need not be `Send`.
    ///
    /// See [`ErrorReport`] for its type. `?` converts a `Box<dyn Error + Send + Sync>` without this
    /// function.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::error::Error;
    /// use presized_lambda_runtime::ErrorReport;
    ///
    /// fn parse(text: &str) -> Result<i32, Box<dyn Error>> {
    ///     Ok(text.parse()?)
    /// }
    ///
    /// async fn handler(text: String) -> Result<i32, ErrorReport> {
    ///     Ok(parse(&text).map_err(ErrorReport::from_boxed)?)
    /// }
    /// ```
    pub fn from_boxed(error: Box<dyn Error>) -> Self {
        convert::report(convert::UNNAMED, &*error)
    }

    /// Creates a report of an error, with this type.
    ///
    /// The message contains the messages of all sources. A source whose message ends the message
    /// before it is left out.
    pub fn from_dyn(error_type: impl Into<String>, error: &dyn Error) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            let text = error.to_string();
            // Many errors repeat the message of their source.
            if !message.ends_with(&text) {
                message.push_str(": ");
                message.push_str(&text);
            }
            source = error.source();
        }
        Self::new(error_type, message)
    }

    /// Sets the stack trace. Each element is a frame.
    #[must_use]
    pub fn with_stack_trace<T: Into<String>>(
        mut self,
        frames: impl IntoIterator<Item = T>,
    ) -> Self {
        self.stack_trace = frames.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the stack trace to the lines of a backtrace.
    #[must_use]
    pub fn with_backtrace(self, backtrace: &Backtrace) -> Self {
        let backtrace = backtrace.to_string();
        self.with_stack_trace(backtrace.lines().map(str::trim))
    }

    /// Sets the cause for X-Ray, in JSON.
    #[must_use]
    pub fn with_xray_cause(mut self, json: impl Into<Bytes>) -> Self {
        self.xray_cause = Some(json.into());
        self
    }

    /// Creates a report of a panic from its payload.
    pub(super) fn from_panic(payload: &(dyn Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self::new(PANIC, message.unwrap_or("panic without a message"))
    }

    /// Returns the report in JSON, cut to the length that the Runtime API accepts.
    pub(super) fn body(&self) -> Bytes {
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
    pub(super) fn to_json_within(&self, max: usize) -> Bytes {
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
    pub(super) fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let cause = self.xray_cause.as_ref();
        let cause = cause.and_then(|cause| json_text::to_ascii(cause, XRAY_ERROR_CAUSE_MAX));
        let cause = cause.and_then(|cause| HeaderValue::try_from(cause).ok());
        [(CONTENT_TYPE, JSON), (FUNCTION_ERROR_TYPE, self.header_type())]
            .into_iter()
            .chain(cause.map(|cause| (XRAY_ERROR_CAUSE, cause)))
    }

    /// Returns the type in the form that Lambda accepts in a header: `Runtime.` or `Function.`, and
    /// a word that begins with a capital letter.
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

impl fmt::Display for ErrorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error_type, self.error_message)
    }
}

impl Error for ErrorReport {}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

const UNKNOWN: HeaderValue = HeaderValue::from_static("Function.Unknown");

const PANIC: &str = "Function.Panic";

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

    #[test]
    fn report_of_a_panic_has_its_message() {
        let table: [(Box<dyn Any + Send>, _); 3] = [
            (Box::new("literal"), "literal"),
            (Box::new("formatted".to_owned()), "formatted"),
            (Box::new(5), "panic without a message"),
        ];
        for (payload, message) in table {
            assert_eq!(ErrorReport::from_panic(&*payload), ErrorReport::new(PANIC, message));
        }
    }
}
