//! What is told of a call, to a hook and to `tracing`.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::StatusCode;
use tracing::{Span, field};

use super::{Error, ErrorKind};

/// What became of one call, for metrics. Of every call there is exactly one, when it has ended:
/// a streamed one ends with its stream.
///
/// The hook runs where the call is awaited or dropped: one that blocks, blocks that task.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallReport<'a> {
    /// The function as it was called: a name or an ARN.
    pub function: &'a str,
    /// The qualifier, where it was not part of the name.
    pub qualifier: Option<&'a str>,
    /// How it ended.
    pub outcome: Outcome,
    /// Status of the last answer, if there was one.
    pub status: Option<StatusCode>,
    /// What Lambda calls the request of the last answer.
    pub request_id: Option<&'a str>,
    /// Number of times that it was attempted.
    pub attempts: u32,
    /// Length of the payload, in bytes.
    pub request_bytes: u64,
    /// Bytes of answer that were handed over.
    pub response_bytes: u64,
    /// Time from start to end, with all attempts and the waits between them.
    pub elapsed: Duration,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// With the answer of the function, or with the word that it will run.
    Succeeded,
    /// The function ran and failed.
    FunctionError,
    /// Lambda refused it for its rate or concurrency.
    Throttled,
    /// Lambda answered with another error.
    ServiceError,
    /// Its deadline passed, or the time for its last attempt.
    TimedOut,
    /// There was no connection, or it broke.
    ConnectionError,
    /// The answer was longer than the limit, or there was no memory for it.
    TooLarge,
    /// It was not sent: its input or the credentials were in the way.
    NotSent,
    /// It was dropped before it had ended.
    Cancelled,
}

impl Outcome {
    fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Service(error) if error.is_throttling() => Self::Throttled,
            ErrorKind::Service(_) => Self::ServiceError,
            ErrorKind::Function(_) => Self::FunctionError,
            ErrorKind::Timeout { .. } => Self::TimedOut,
            ErrorKind::Connect(_) | ErrorKind::Broken(_) => Self::ConnectionError,
            ErrorKind::TooLarge(_) | ErrorKind::Memory(_) => Self::TooLarge,
            ErrorKind::Config(_) | ErrorKind::BadInput(_) | ErrorKind::Credentials(_) => {
                Self::NotSent
            }
        }
    }
}

/// Who is told of calls.
#[derive(Clone)]
pub(super) struct Hook(Arc<dyn Fn(&CallReport<'_>) + Send + Sync>);

impl Hook {
    pub(super) fn new(hook: impl Fn(&CallReport<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hook))
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// Collects what there is to tell of one call, and tells it once: when the call has ended, or
/// when this is dropped.
#[derive(Debug)]
pub(super) struct Recorder {
    hook: Option<Hook>,
    span: Span,
    function: String,
    qualifier: Option<String>,
    begin: Instant,
    outcome: Outcome,
    status: Option<StatusCode>,
    request_id: Option<String>,
    attempts: u32,
    request_bytes: u64,
    response_bytes: u64,
}

impl Recorder {
    pub(super) fn new(
        hook: Option<Hook>,
        function: String,
        qualifier: Option<String>,
        request_bytes: usize,
    ) -> Self {
        let span = tracing::info_span!(
            "lambda.invoke",
            function,
            qualifier,
            request_bytes,
            attempts = field::Empty,
            status = field::Empty,
            request_id = field::Empty,
            response_bytes = field::Empty,
            outcome = field::Empty,
        );
        Self {
            hook,
            span,
            function,
            qualifier,
            begin: Instant::now(),
            outcome: Outcome::Cancelled,
            status: None,
            request_id: None,
            attempts: 0,
            request_bytes: request_bytes as u64,
            response_bytes: 0,
        }
    }

    /// What the events of this call belong to.
    pub(super) fn span(&self) -> &Span {
        &self.span
    }

    /// Time since the call began.
    pub(super) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Number of attempts so far.
    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Another attempt begins.
    pub(super) fn attempt(&mut self) {
        self.attempts += 1;
        tracing::debug!(parent: &self.span, attempt = self.attempts, "sending");
    }

    /// An answer begins.
    pub(super) fn answered(&mut self, status: StatusCode, request_id: Option<&str>) {
        self.status = Some(status);
        self.request_id = request_id.map(str::to_owned);
        tracing::debug!(
            parent: &self.span,
            attempt = self.attempts,
            status = status.as_u16(),
            request_id,
            "answered"
        );
    }

    /// So many bytes of answer are handed over.
    pub(super) fn received(&mut self, bytes: usize) {
        self.response_bytes += bytes as u64;
    }

    /// The function has answered, or will run.
    pub(super) fn succeeded(&mut self) {
        self.outcome = Outcome::Succeeded;
    }

    /// The function has run and failed.
    pub(super) fn function_failed(&mut self) {
        self.outcome = Outcome::FunctionError;
    }

    /// The call has failed for good.
    pub(super) fn failed(&mut self, error: &Error) {
        self.outcome = Outcome::of(error);
        tracing::debug!(parent: &self.span, attempt = self.attempts, %error, "failed");
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.span.record("attempts", self.attempts);
        if let Some(status) = self.status {
            self.span.record("status", status.as_u16());
        }
        if let Some(request_id) = &self.request_id {
            self.span.record("request_id", request_id);
        }
        self.span.record("response_bytes", self.response_bytes);
        self.span.record("outcome", field::debug(self.outcome));
        if let Some(Hook(hook)) = &self.hook {
            hook(&CallReport {
                function: &self.function,
                qualifier: self.qualifier.as_deref(),
                outcome: self.outcome,
                status: self.status,
                request_id: self.request_id.as_deref(),
                attempts: self.attempts,
                request_bytes: self.request_bytes,
                response_bytes: self.response_bytes,
                elapsed: self.begin.elapsed(),
            });
        }
    }
}
