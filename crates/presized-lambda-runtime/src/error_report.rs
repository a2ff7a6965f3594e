//! The report of a failure, in the format of Lambda.

mod convert;
mod json_text;
mod wire_form;

use std::any::Any;
use std::backtrace::Backtrace;
use std::error::Error;
use std::fmt;

use bytes::Bytes;
use serde::Serialize;

pub(super) use self::json_text::cut;

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
}

impl fmt::Display for ErrorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error_type, self.error_message)
    }
}

impl Error for ErrorReport {}

const PANIC: &str = "Function.Panic";

#[cfg(test)]
mod tests {
    use super::*;

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
