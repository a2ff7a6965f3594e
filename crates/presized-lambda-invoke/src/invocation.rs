//! The result of a call whose response is read into one buffer.

use std::borrow::Cow;
use std::fmt;
use std::str;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, StatusCode, response};
use serde::Deserialize;

use super::service_error::{request_id, text};
use super::{FunctionError, PayloadError, wire};

/// The response of a function, or the confirmation of Lambda that it queued the event.
#[derive(Clone)]
#[non_exhaustive]
#[must_use = "the function may have failed, which `function_error` tells"]
pub struct Invocation {
    /// The status: 200 for a response of the function, 202 for a queued event
    /// ([`InvocationType::Event`](super::InvocationType::Event)), 204 for a dry run.
    pub status: StatusCode,
    /// The unchanged response of the function in one buffer. It is empty for 202 and 204.
    ///
    /// If the client has a pool or a budget, the buffer and its share of the budget are returned
    /// when the last clone is dropped.
    pub payload: Bytes,
    /// The error, if the function ran and failed. [`payload`](Self::payload) is then the error
    /// report of its runtime or of Lambda.
    ///
    /// It is boxed, because it would double the size of an `Invocation`.
    pub function_error: Option<Box<FunctionError>>,
    /// The version of the function that ran: `$LATEST` or a number.
    pub executed_version: Option<String>,
    /// The log tail: the last 4 KiB of the function's log, if
    /// [`tail_log`](super::Invoke::tail_log) asked for it.
    ///
    /// It may start within a UTF-8 character. [`log_text`](Self::log_text) replaces such bytes.
    pub log_tail: Option<Bytes>,
    /// The request id.
    pub request_id: Option<String>,
    /// The ARN of the execution that a durable function started or joined.
    pub durable_execution_arn: Option<String>,
    /// The number of attempts, at least 1.
    pub attempts: u32,
}

impl Invocation {
    /// Parses the payload as JSON. A type that borrows, borrows from the payload.
    ///
    /// # Errors
    ///
    /// Returns an error if the function failed, or if the payload is not JSON of this type. An
    /// empty payload is not JSON.
    pub fn json<'de, T: Deserialize<'de>>(&'de self) -> Result<T, PayloadError> {
        serde_json::from_slice(self.succeeded()?).map_err(|error| PayloadError::Json(error.into()))
    }

    /// Returns the payload as text, without a copy.
    ///
    /// # Errors
    ///
    /// Returns an error if the function failed, or if the payload is not UTF-8.
    pub fn text(&self) -> Result<&str, PayloadError> {
        str::from_utf8(self.succeeded()?).map_err(PayloadError::Utf8)
    }

    /// Returns the log tail as text. Bytes that are not UTF-8 are replaced.
    pub fn log_text(&self) -> Option<Cow<'_, str>> {
        self.log_tail.as_deref().map(String::from_utf8_lossy)
    }

    /// Returns the invocation unless the function failed.
    ///
    /// # Errors
    ///
    /// Returns the error of a function that failed. It has the request id, the log tail and the
    /// version that ran.
    pub fn into_result(self) -> Result<Self, Box<FunctionError>> {
        match self.function_error {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }

    pub(super) fn new(head: &response::Parts, payload: Bytes, attempts: u32) -> Self {
        let headers = &head.headers;
        // The header is absent from the response of a function that succeeded, so that any value
        // means a failure, even one that is not text.
        let function_error = headers.get(&wire::FUNCTION_ERROR).map(|kind| {
            let kind = String::from_utf8_lossy(kind.as_bytes());
            Box::new(FunctionError::new(&kind, payload.clone(), headers))
        });
        Self {
            status: head.status,
            payload,
            function_error,
            executed_version: executed_version(headers),
            log_tail: log_tail(headers),
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

/// Returns the version that ran.
pub(super) fn executed_version(headers: &HeaderMap) -> Option<String> {
    text(headers, &wire::EXECUTED_VERSION)
}

/// Returns the log tail.
pub(super) fn log_tail(headers: &HeaderMap) -> Option<Bytes> {
    headers.get(&wire::LOG_RESULT).and_then(|value| decode_log(value.as_bytes()))
}

/// Decodes a log tail from base64. An invalid one is ignored, so that the response is not lost.
pub(super) fn decode_log(encoded: &[u8]) -> Option<Bytes> {
    STANDARD.decode(encoded).ok().map(Bytes::from)
}
