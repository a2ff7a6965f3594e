use std::fmt;

use bytes::Bytes;
use http::HeaderMap;

use super::error_report::ErrorReport;
use super::invocation::{executed_version, log_tail};
use super::service_error::request_id;

/// The error of a function that ran and failed.
///
/// The runtime of the function writes the payload, or Lambda does if the runtime could not. Which
/// members are present depends on the runtime.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionError {
    /// Says whether the function handled the error.
    pub kind: FunctionErrorKind,
    /// The member `errorType` of the payload.
    pub error_type: Option<String>,
    /// The member `errorMessage` of the payload.
    pub error_message: Option<String>,
    /// The lines of the member `stackTrace` or `trace`, at most 1,024.
    pub stack_trace: Vec<String>,
    /// The unchanged payload.
    pub payload: Bytes,
    /// The request id, as in [`Invocation`](super::Invocation).
    pub request_id: Option<String>,
    /// The log tail, as in [`Invocation`](super::Invocation).
    pub log_tail: Option<Bytes>,
    /// The version of the function that ran, as in [`Invocation`](super::Invocation).
    pub executed_version: Option<String>,
}

/// Says whether the function handled its error, from the header `X-Amz-Function-Error`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FunctionErrorKind {
    /// The function caught the error and reported it.
    Handled,
    /// The runtime reported the error, or Lambda did because the function timed out or exited.
    Unhandled,
    /// Another value of the header.
    Other(String),
}

impl FunctionError {
    /// Parses the error in a response whose header `X-Amz-Function-Error` has the value `kind`.
    pub(super) fn new(kind: &str, payload: Bytes, headers: &HeaderMap) -> Self {
        let kind = match kind {
            "Handled" => FunctionErrorKind::Handled,
            "Unhandled" => FunctionErrorKind::Unhandled,
            other => FunctionErrorKind::Other(other.to_owned()),
        };
        let ErrorReport { error_type, error_message, stack_trace } = ErrorReport::parse(&payload);
        Self {
            kind,
            error_type,
            error_message,
            stack_trace,
            payload,
            request_id: request_id(headers),
            log_tail: log_tail(headers),
            executed_version: executed_version(headers),
        }
    }
}

impl fmt::Debug for FunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionError")
            .field("kind", &self.kind)
            .field("error_type", &self.error_type)
            .field("error_message", &self.error_message)
            .field("stack_trace", &format_args!("{} lines", self.stack_trace.len()))
            .field("payload", &format_args!("{} bytes", self.payload.len()))
            .field("request_id", &self.request_id)
            .field("log_tail", &self.log_tail.as_ref().map(|log| format!("{} bytes", log.len())))
            .field("executed_version", &self.executed_version)
            .finish()
    }
}

impl fmt::Display for FunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            FunctionErrorKind::Handled => "handled",
            FunctionErrorKind::Unhandled => "unhandled",
            FunctionErrorKind::Other(kind) => kind,
        };
        write!(f, "function failed ({kind})")?;
        if let Some(error_type) = &self.error_type {
            write!(f, ": {error_type}")?;
        }
        match &self.error_message {
            Some(message) => write!(f, ": {message}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for FunctionError {}
