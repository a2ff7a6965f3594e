//! What a buffered call comes to.

use std::borrow::Cow;
use std::fmt;
use std::str::{self, Utf8Error};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, StatusCode, response};
use serde::Deserialize;

use super::report::Report;
use super::service_error::{request_id, text};
use super::wire;

/// The answer of a function that was executed, or of Lambda that it will be.
#[derive(Clone)]
#[non_exhaustive]
#[must_use = "the function may have failed, which `function_error` tells"]
pub struct Invocation {
    /// 200 for an answer of the function, 202 where it was queued
    /// ([`InvocationType::Event`](super::InvocationType::Event)), 204 for a dry run.
    pub status: StatusCode,
    /// What the function answered, byte for byte, in one buffer. Empty with 202 and 204.
    ///
    /// Where the client has a pool or a budget, the buffer and its share of the budget are given
    /// back when the last clone is dropped.
    pub payload: Bytes,
    /// The function ran and failed. [`payload`](Self::payload) is then what its runtime, or
    /// Lambda, says about it. Boxed, since it would double the size of each `Invocation`.
    pub function_error: Option<Box<FunctionError>>,
    /// The version that was executed: `$LATEST` or a number.
    pub executed_version: Option<String>,
    /// The last 4 KB of the function's log, where
    /// [`tail_log`](super::Invoke::tail_log) asked for it. It may start inside a character;
    /// [`log_text`](Self::log_text) reads it all the same.
    pub log_tail: Option<Bytes>,
    /// What Lambda calls the request.
    pub request_id: Option<String>,
    /// The execution that a durable function was started or joined as.
    pub durable_execution_arn: Option<String>,
    /// Number of times that the call was attempted; at least 1.
    pub attempts: u32,
}

impl Invocation {
    /// The payload, read as JSON. A type that borrows, borrows from the payload.
    ///
    /// # Errors
    ///
    /// Where the function failed, or the payload is not such JSON. An empty one is not JSON.
    pub fn json<'de, T: Deserialize<'de>>(&'de self) -> Result<T, PayloadError> {
        serde_json::from_slice(self.succeeded()?).map_err(PayloadError::Json)
    }

    /// The payload as text, without a copy.
    ///
    /// # Errors
    ///
    /// Where the function failed, or the payload is not UTF-8.
    pub fn text(&self) -> Result<&str, PayloadError> {
        str::from_utf8(self.succeeded()?).map_err(PayloadError::Utf8)
    }

    /// The end of the log as text. What is not UTF-8 is replaced.
    pub fn log_text(&self) -> Option<Cow<'_, str>> {
        self.log_tail.as_deref().map(String::from_utf8_lossy)
    }

    /// This, unless the function failed.
    ///
    /// # Errors
    ///
    /// How the function failed.
    pub fn into_result(self) -> Result<Self, Box<FunctionError>> {
        match self.function_error {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }

    pub(super) fn new(head: &response::Parts, payload: Bytes, attempts: u32) -> Self {
        let headers = &head.headers;
        // Whatever it says, even if that is no text: an answer of the function has none.
        let function_error = headers.get(&wire::FUNCTION_ERROR).map(|kind| {
            let kind = String::from_utf8_lossy(kind.as_bytes());
            Box::new(FunctionError::new(&kind, payload.clone()))
        });
        Self {
            status: head.status,
            payload,
            function_error,
            executed_version: executed_version(headers),
            log_tail: headers.get(&wire::LOG_RESULT).and_then(|value| decode_log(value.as_bytes())),
            request_id: request_id(headers),
            durable_execution_arn: text(headers, &wire::DURABLE_EXECUTION_ARN),
            attempts,
        }
    }

    fn succeeded(&self) -> Result<&Bytes, PayloadError> {
        match &self.function_error {
            Some(error) => Err(PayloadError::Function(error.clone())),
            None => Ok(&self.payload),
        }
    }
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation")
            .field("status", &self.status)
            .field("payload", &format_args!("{} bytes", self.payload.len()))
            .field("function_error", &self.function_error)
            .field("executed_version", &self.executed_version)
            .field("log_tail", &self.log_tail.as_ref().map(|log| format!("{} bytes", log.len())))
            .field("request_id", &self.request_id)
            .field("durable_execution_arn", &self.durable_execution_arn)
            .field("attempts", &self.attempts)
            .finish()
    }
}

/// How a function failed.
///
/// What is optional depends on the runtime of the function: it writes the payload, and Lambda
/// does where the runtime could not.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionError {
    /// Who caught it.
    pub kind: FunctionErrorKind,
    /// `errorType`.
    pub error_type: Option<String>,
    /// `errorMessage`.
    pub error_message: Option<String>,
    /// `stackTrace` or `trace`, a line each; of a longer one the first 1,024 lines.
    pub stack_trace: Vec<String>,
    /// What all of this was read from, as it came.
    pub payload: Bytes,
}

/// Who caught the error of a function, as `X-Amz-Function-Error` tells.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FunctionErrorKind {
    /// The code of the function.
    Handled,
    /// Nobody: the runtime, or Lambda when it timed out or ended.
    Unhandled,
    /// Something else, as it came.
    Other(String),
}

impl FunctionError {
    fn new(kind: &str, payload: Bytes) -> Self {
        let kind = match kind {
            "Handled" => FunctionErrorKind::Handled,
            "Unhandled" => FunctionErrorKind::Unhandled,
            other => FunctionErrorKind::Other(other.to_owned()),
        };
        let Report { error_type, error_message, stack_trace } = Report::read(&payload);
        Self { kind, error_type, error_message, stack_trace, payload }
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

/// Why a payload could not be read as what was asked for.
#[derive(Debug)]
#[non_exhaustive]
pub enum PayloadError {
    /// The function failed, and the payload is not its answer.
    Function(Box<FunctionError>),
    /// The payload is not such JSON.
    Json(serde_json::Error),
    /// The payload is not UTF-8.
    Utf8(Utf8Error),
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(error) => write!(f, "{error}"),
            Self::Json(error) => write!(f, "payload is not the JSON that is expected: {error}"),
            Self::Utf8(error) => write!(f, "payload is not text: {error}"),
        }
    }
}

impl std::error::Error for PayloadError {}

/// The version that was executed.
pub(super) fn executed_version(headers: &HeaderMap) -> Option<String> {
    text(headers, &wire::EXECUTED_VERSION)
}

/// The log out of its base64. None where it is not base64: a log is no reason to lose an answer.
pub(super) fn decode_log(encoded: &[u8]) -> Option<Bytes> {
    STANDARD.decode(encoded).ok().map(Bytes::from)
}
