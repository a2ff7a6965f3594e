//! The error of this crate.

use std::fmt;
use std::io;

use http::StatusCode;
use presized::CollectError;

use super::transport::SendError;
use super::{ApiError, Context, ErrorReport, Responder};

/// A boxed error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Tells why no invocation was received, or why a response was not delivered.
///
/// `Display` tells what failed. [`source`](std::error::Error::source) returns the cause.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    invocation: Option<(Context, Responder)>,
}

/// The kind of an [`Error`], with its cause.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A setting or an environment variable is missing or invalid.
    Config(BoxError),
    /// No connection to the Runtime API could be opened.
    Connect(io::Error),
    /// The connection ended before the response of the Runtime API, or the response is not HTTP.
    Broken(BoxError),
    /// The Runtime API returned an error that is not about an invocation.
    Api(ApiError),
    /// The initialization failed. The error was reported to the Runtime API.
    Init(ErrorReport),
    /// A hook of SnapStart failed. The error was reported to the Runtime API.
    Hook(ErrorReport),
    /// The event of an invocation could not be read: it exceeds the limit, there is no memory for
    /// it, or the connection ended before the end of the event.
    ///
    /// The caller still waits for a response. See [`Error::into_responder`].
    Event(CollectError<io::Error>),
    /// A worker of several ended without a result.
    Worker(BoxError),
}

impl Error {
    /// Returns the kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns `true` if the process should end without another request.
    ///
    /// This is so if the Runtime API cannot recover (500), if the configuration is invalid, or if the
    /// initialization or a hook of SnapStart failed. All other errors may be temporary, so that a later request can
    /// succeed.
    pub fn is_fatal(&self) -> bool {
        match &self.0.kind {
            ErrorKind::Config(_) | ErrorKind::Hook(_) | ErrorKind::Init(_) => true,
            ErrorKind::Api(error) => error.status == StatusCode::INTERNAL_SERVER_ERROR,
            ErrorKind::Connect(_)
            | ErrorKind::Broken(_)
            | ErrorKind::Event(_)
            | ErrorKind::Worker(_) => false,
        }
    }

    /// Returns `true` if an event exceeds the limit.
    pub fn is_too_large(&self) -> bool {
        matches!(&self.0.kind, ErrorKind::Event(error) if error.is_too_large())
    }

    /// Returns the error that the Runtime API returned, if this is one.
    pub fn as_api_error(&self) -> Option<&ApiError> {
        match &self.0.kind {
            ErrorKind::Api(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the invocation whose event could not be read, if this is such an error.
    ///
    /// Report the error with [`Responder::fail`]. Then ask for the next invocation.
    pub fn into_responder(self) -> Option<(Context, Responder)> {
        self.0.invocation
    }

    pub(super) fn config(source: impl Into<BoxError>) -> Self {
        Self::new(ErrorKind::Config(source.into()))
    }

    pub(super) fn event(
        source: CollectError<io::Error>,
        context: Context,
        responder: Responder,
    ) -> Self {
        let kind = ErrorKind::Event(source);
        Self(Box::new(Inner { kind, invocation: Some((context, responder)) }))
    }

    pub(super) fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, invocation: None }))
    }

    /// Returns the error in the form that tracing records with its causes.
    pub(super) fn as_dyn(&self) -> &(dyn std::error::Error + 'static) {
        self
    }
}

impl From<ApiError> for Error {
    fn from(error: ApiError) -> Self {
        Self::new(ErrorKind::Api(error))
    }
}

impl From<SendError> for Error {
    fn from(error: SendError) -> Self {
        Self::new(match error {
            SendError::Connect(error) => ErrorKind::Connect(error),
            SendError::Broken(error) => ErrorKind::Broken(error.into()),
        })
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let request_id = self.0.invocation.as_ref().map(|(context, _)| &context.request_id);
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("request_id", &request_id)
            .finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0.kind {
            ErrorKind::Config(_) => "runtime configuration is invalid",
            ErrorKind::Connect(_) => "no connection to the Runtime API",
            ErrorKind::Broken(_) => "connection to the Runtime API broke",
            ErrorKind::Api(_) => "the Runtime API returned an error",
            ErrorKind::Event(_) => "event cannot be read",
            ErrorKind::Worker(_) => "worker ended without a result",
            ErrorKind::Init(_) => "initialization failed",
            ErrorKind::Hook(_) => "SnapStart hook failed",
        })
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Config(source) | ErrorKind::Broken(source) | ErrorKind::Worker(source) => {
                Some(&**source)
            }
            ErrorKind::Connect(source) => Some(source),
            ErrorKind::Event(source) => Some(source),
            ErrorKind::Api(source) => Some(source),
            ErrorKind::Init(source) | ErrorKind::Hook(source) => Some(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn each_layer_is_told_once_and_no_cause_is_skipped() {
        let io = || io::Error::other("cause");
        let api = ApiError {
            status: StatusCode::FORBIDDEN,
            error_type: Some("A".to_owned()),
            message: Some("m".to_owned()),
        };
        let report = ErrorReport::new("A", "m");
        let table = [
            (ErrorKind::Init(report.clone()), "initialization failed", "A: m"),
            (ErrorKind::Hook(report), "SnapStart hook failed", "A: m"),
            (ErrorKind::Config("cause".into()), "runtime configuration is invalid", "cause"),
            (ErrorKind::Connect(io()), "no connection to the Runtime API", "cause"),
            (ErrorKind::Broken(io().into()), "connection to the Runtime API broke", "cause"),
            (ErrorKind::Worker(io().into()), "worker ended without a result", "cause"),
            (ErrorKind::Api(api), "the Runtime API returned an error", "A (status 403): m"),
        ];
        for (kind, message, cause) in table {
            let error = Error::new(kind);
            assert_eq!(error.to_string(), message);
            assert_eq!(error.source().unwrap().to_string(), cause);
        }
    }

    #[test]
    fn error_can_be_sent_between_threads() {
        fn is_error<E: std::error::Error + Send + Sync + 'static>() {}
        is_error::<Error>();
        is_error::<ApiError>();
        is_error::<crate::DeadlineExceeded>();
    }
}
