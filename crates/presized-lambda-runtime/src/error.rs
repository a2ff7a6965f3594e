//! Why there is no invocation, or an answer did not get through.

use std::fmt;
use std::io;

use http::StatusCode;

/// A boxed error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
use super::{ApiError, Context, ErrorReport, Responder};
use presized::CollectError;

/// Why there is no invocation, or an answer did not get through.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    unanswered: Option<(Context, Responder)>,
}

/// What went wrong, with what is known about it.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A setting of the client is missing, or cannot be what it is given as.
    Config(BoxError),
    /// No connection could be made.
    Connect(io::Error),
    /// The connection failed after the request, or what came over it is not HTTP.
    Broken(BoxError),
    /// The Runtime API answered with an error that is not about an invocation.
    Api(ApiError),
    /// What was to be done before a snapshot or after it failed, which the Runtime API was told.
    Hook(ErrorReport),
    /// The event of an invocation cannot be read: it is longer than the limit, there is no memory
    /// for it, or it broke off.
    ///
    /// The invocation is there nevertheless, and is to be answered: see
    /// [`Error::into_unanswered`].
    Event(CollectError<io::Error>),
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Whether the process is to end without another request: the Runtime API said that it cannot
    /// recover (500), a setting is missing or wrong, or a hook of SnapStart failed.
    ///
    /// Others may pass, a connection that could not be made among them, and be tried again after
    /// a while.
    pub fn is_fatal(&self) -> bool {
        match &self.0.kind {
            ErrorKind::Config(_) | ErrorKind::Hook(_) => true,
            ErrorKind::Api(error) => error.status == StatusCode::INTERNAL_SERVER_ERROR,
            ErrorKind::Connect(_) | ErrorKind::Broken(_) | ErrorKind::Event(_) => false,
        }
    }

    /// Whether an event was longer than the limit.
    pub fn is_too_large(&self) -> bool {
        matches!(&self.0.kind, ErrorKind::Event(error) if error.is_too_large())
    }

    /// What the Runtime API answered, where it is an error of its own.
    pub fn as_api_error(&self) -> Option<&ApiError> {
        match &self.0.kind {
            ErrorKind::Api(error) => Some(error),
            _ => None,
        }
    }

    /// The invocation whose event cannot be read: report that by
    /// [`fail`](Responder::fail), and go on.
    pub fn into_unanswered(self) -> Option<(Context, Responder)> {
        self.0.unanswered
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
        Self(Box::new(Inner { kind, unanswered: Some((context, responder)) }))
    }

    pub(super) fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, unanswered: None }))
    }
}

impl From<ApiError> for Error {
    fn from(error: ApiError) -> Self {
        Self::new(ErrorKind::Api(error))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field(
                "unanswered",
                &self.0.unanswered.as_ref().map(|(context, _)| &context.request_id),
            )
            .finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            ErrorKind::Config(source) => write!(f, "client cannot be built: {source}"),
            ErrorKind::Connect(source) => write!(f, "no connection to the Runtime API: {source}"),
            ErrorKind::Broken(source) => write!(f, "Runtime API broke off: {source}"),
            ErrorKind::Api(error) => write!(f, "Runtime API failed: {error}"),
            ErrorKind::Hook(report) => {
                write!(f, "hook failed: {}: {}", report.error_type, report.error_message)
            }
            ErrorKind::Event(error) => write!(f, "event cannot be read: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // What `Display` has said of the nearest one is not said again by those who print
        // the chain.
        match &self.0.kind {
            ErrorKind::Config(source) | ErrorKind::Broken(source) => source.source(),
            ErrorKind::Connect(source) => source.source(),
            ErrorKind::Event(error) => error.source(),
            ErrorKind::Api(_) | ErrorKind::Hook(_) => None,
        }
    }
}
