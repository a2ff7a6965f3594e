//! Why a call failed, and whether the function can have run.

use std::fmt;
use std::io;
use std::time::Duration;

use bytes::Bytes;

/// A boxed error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
use super::ServiceError;
use super::report::Report;
use presized::{CollectError, Partial};

/// Why a call failed.
///
/// An error that the function itself returned is none of these, except at the end of a stream:
/// see [`Invocation::function_error`](super::Invocation::function_error).
///
/// It shows no credentials, and no payload either, in `Debug` and `Display`.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    may_have_run: bool,
    attempts: u32,
    request_id: Option<String>,
    /// What had arrived, where it is not in what went wrong.
    partial: Partial,
}

/// What went wrong, with what is known about it.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The settings of the client do not fit together, or one is missing.
    Config(BoxError),
    /// The call cannot be written as a request.
    BadInput(BoxError),
    /// There are no credentials.
    Credentials(BoxError),
    /// No connection could be made, or it was gone before a byte was written, or an HTTP/2 server
    /// said that it had not acted upon the request (RFC 9113 §8.7).
    Connect(BoxError),
    /// Lambda answered with an error.
    Service(ServiceError),
    /// The function failed while its answer was being streamed.
    Function(StreamedFunctionError),
    /// The deadline of the call passed, or the time for its last attempt
    /// ([`attempt_timeout`](super::ClientBuilder::attempt_timeout)).
    #[non_exhaustive]
    Timeout {
        /// Time since the call began.
        after: Duration,
    },
    /// The connection failed when the request may have been sent, or what came over it is no
    /// answer.
    Broken(BoxError),
    /// The answer is longer than the limit.
    TooLarge(CollectError<io::Error>),
    /// There is no memory for the answer, in the process or in the budget.
    Memory(CollectError<io::Error>),
}

/// How a function failed after it had begun to stream, from the `InvokeComplete` event.
///
/// `Debug` shows how many bytes of log there are and never the bytes.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamedFunctionError {
    /// `ErrorCode`.
    pub code: String,
    /// `ErrorDetails`: of a runtime that follows Lambda's, its report in JSON.
    pub details: Option<String>,
    /// The end of the log, where it was asked for; see
    /// [`Invocation::log_tail`](super::Invocation::log_tail).
    pub log_tail: Option<Bytes>,
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// What went wrong, to take things out of.
    pub fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// Whether the function can have been executed, or can still be.
    ///
    /// False is certain as far as the answers of Lambda are: nothing was written to the
    /// connection, or Lambda refused the request. True is the answer in any doubt. Ask this
    /// before sending a call again whose function is not idempotent.
    ///
    /// Status 503, and 500 and 502 with an error code of Lambda's, count as a refusal, as in the
    /// AWS SDKs. A bare 500 or 502 does not: Lambda names its errors, and other software that
    /// serves the same API tells a failed function so.
    ///
    /// It says whether to send the call again is safe, and not whether it helps: a function that
    /// does not exist has not run either. See [`is_transient`](Self::is_transient).
    pub fn may_have_run(&self) -> bool {
        self.0.may_have_run
    }

    /// Whether the same call can succeed a little later: there was no connection or it broke, a
    /// time ran out, or Lambda refused for now. The client has made its
    /// [`attempts`](Self::attempts) already.
    ///
    /// Whether it is safe to send it again is another question: see
    /// [`may_have_run`](Self::may_have_run).
    pub fn is_transient(&self) -> bool {
        match &self.0.kind {
            ErrorKind::Connect(_) | ErrorKind::Broken(_) | ErrorKind::Timeout { .. } => true,
            ErrorKind::Service(error) => error.is_transient() || error.is_gateway(),
            _ => false,
        }
    }

    /// Whether Lambda refused the call for its rate or concurrency.
    pub fn is_throttling(&self) -> bool {
        matches!(&self.0.kind, ErrorKind::Service(error) if error.is_throttling())
    }

    /// Whether the deadline of the call passed, or the time for its last attempt.
    pub fn is_timeout(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Timeout { .. })
    }

    /// Whether the answer was longer than the limit.
    pub fn is_too_large(&self) -> bool {
        matches!(self.0.kind, ErrorKind::TooLarge(_))
    }

    /// What Lambda answered, where it is an error of Lambda.
    pub fn as_service_error(&self) -> Option<&ServiceError> {
        match &self.0.kind {
            ErrorKind::Service(error) => Some(error),
            _ => None,
        }
    }

    /// Number of times that the call was attempted. 0 means that it failed before.
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// What Lambda calls the request, if it answered.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// What had arrived of an answer that broke off or was too long; nothing, where its declared
    /// length was refused. Or of a stream that was to
    /// be [collected](super::ResponseStream::collect).
    pub fn into_partial(self) -> Bytes {
        let Inner { kind, partial, .. } = *self.0;
        match kind {
            ErrorKind::TooLarge(error) | ErrorKind::Memory(error) => error.into_partial(),
            ErrorKind::Broken(source) | ErrorKind::Connect(source) => source
                .downcast::<CollectError<io::Error>>()
                .map_or_else(|_| partial.into_bytes(), |error| error.into_partial()),
            _ => partial.into_bytes(),
        }
    }

    /// Of a call that did not get as far as an attempt.
    pub(super) fn unsent(kind: ErrorKind) -> Self {
        Self::new(kind, false)
    }

    pub(super) fn new(kind: ErrorKind, may_have_run: bool) -> Self {
        let partial = Partial::default();
        Self(Box::new(Inner { kind, may_have_run, attempts: 0, request_id: None, partial }))
    }

    pub(super) fn config(source: impl Into<BoxError>) -> Self {
        Self::unsent(ErrorKind::Config(source.into()))
    }

    pub(super) fn bad_input(source: impl Into<BoxError>) -> Self {
        Self::unsent(ErrorKind::BadInput(source.into()))
    }

    pub(super) fn credentials(source: impl Into<BoxError>) -> Self {
        Self::unsent(ErrorKind::Credentials(source.into()))
    }

    /// What came after the request was sent is no answer.
    pub(super) fn broken(source: impl Into<BoxError>) -> Self {
        Self::new(ErrorKind::Broken(source.into()), true)
    }

    /// The function's answer could not be read.
    pub(super) fn read(error: CollectError<io::Error>) -> Self {
        let kind = match error {
            error if error.is_too_large() => ErrorKind::TooLarge(error),
            CollectError::OutOfMemory { .. } | CollectError::Budget { .. } => {
                ErrorKind::Memory(error)
            }
            error => ErrorKind::Broken(error.into()),
        };
        Self::new(kind, true)
    }

    pub(super) fn service(error: ServiceError) -> Self {
        let may_have_run = error.may_have_run();
        let request_id = error.request_id.clone();
        Self::new(ErrorKind::Service(error), may_have_run).with_request_id(request_id)
    }

    pub(super) fn with_request_id(mut self, request_id: Option<String>) -> Self {
        if request_id.is_some() {
            self.0.request_id = request_id;
        }
        self
    }

    pub(super) fn with_partial(mut self, partial: Partial) -> Self {
        self.0.partial = partial;
        self
    }

    /// After `attempts` attempts, of which one before this can have made the function run.
    pub(super) fn after(mut self, attempts: u32, may_have_run: bool) -> Self {
        self.0.attempts = attempts;
        self.0.may_have_run |= may_have_run;
        self
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("may_have_run", &self.0.may_have_run)
            .field("attempts", &self.0.attempts)
            .field("request_id", &self.0.request_id)
            .finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            ErrorKind::Config(source) => write!(f, "client cannot be built: {source}"),
            ErrorKind::BadInput(source) => write!(f, "bad input: {source}"),
            ErrorKind::Credentials(source) => write!(f, "no credentials: {source}"),
            ErrorKind::Connect(source) => write!(f, "no connection: {source}"),
            ErrorKind::Service(error) => write!(f, "{error}"),
            ErrorKind::Function(error) => write!(f, "{error}"),
            ErrorKind::Timeout { after } => write!(f, "timed out after {after:.3?}"),
            ErrorKind::Broken(source) => write!(f, "no whole answer: {source}"),
            ErrorKind::TooLarge(error) | ErrorKind::Memory(error) => {
                write!(f, "answer cannot be read: {error}")
            }
        }?;
        if self.0.attempts > 1 {
            write!(f, " (after {} attempts)", self.0.attempts)?;
        }
        // One that tells how it failed has run, and whoever reads this knows.
        if self.0.may_have_run && !matches!(self.0.kind, ErrorKind::Function(_)) {
            write!(f, "; the function may have run")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // What `Display` has said of the nearest one is not said again by those who print
        // the chain.
        match &self.0.kind {
            ErrorKind::Config(source)
            | ErrorKind::BadInput(source)
            | ErrorKind::Credentials(source)
            | ErrorKind::Connect(source)
            | ErrorKind::Broken(source) => source.source(),
            ErrorKind::TooLarge(error) | ErrorKind::Memory(error) => error.source(),
            ErrorKind::Service(_) | ErrorKind::Function(_) | ErrorKind::Timeout { .. } => None,
        }
    }
}

impl StreamedFunctionError {
    /// The type that the report in the details gives.
    pub fn error_type(&self) -> Option<String> {
        self.report().error_type
    }

    /// The message that the report in the details gives.
    pub fn error_message(&self) -> Option<String> {
        self.report().error_message
    }

    fn report(&self) -> Report {
        self.details.as_ref().map(|details| Report::read(details.as_bytes())).unwrap_or_default()
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
