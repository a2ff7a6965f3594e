use std::fmt;

use bytes::Bytes;

use super::error_report::ErrorReport;

/// The error of a function that failed after its response had begun, from the `InvokeComplete`
/// event.
///
/// `Debug` shows the length of the log tail and not its content.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamedFunctionError {
    /// The member `ErrorCode` of the event.
    pub code: String,
    /// The member `ErrorDetails` of the event. A runtime that follows Lambda's writes its error
    /// report there, as JSON.
    pub details: Option<String>,
    /// The end of the log, if [`tail_log`](super::Invoke::tail_log) asked for it. See
    /// [`Invocation::log_tail`](super::Invocation::log_tail).
    pub log_tail: Option<Bytes>,
}

impl StreamedFunctionError {
    /// Returns the error type in the report of the runtime.
    pub fn error_type(&self) -> Option<String> {
        self.report().error_type
    }

    /// Returns the error message in the report of the runtime.
    pub fn error_message(&self) -> Option<String> {
        self.report().error_message
    }

    fn report(&self) -> ErrorReport {
        let details = self.details.as_ref();
        details.map(|details| ErrorReport::parse(details.as_bytes())).unwrap_or_default()
    }
}

impl fmt::Debug for StreamedFunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let log_tail = self.log_tail.as_ref().map(Bytes::len);
        f.debug_struct("StreamedFunctionError")
            .field("code", &self.code)
            .field("details", &self.details)
            .field("log_tail", &log_tail.map(|len| format!("{len} bytes")))
            .finish()
    }
}

impl fmt::Display for StreamedFunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function failed while streaming: {}", self.code)?;
        match self.error_message().as_ref().or(self.details.as_ref()) {
            Some(message) => write!(f, ": {message}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for StreamedFunctionError {}
