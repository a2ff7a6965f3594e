//! `Display`, `Error` and the conversion to `io::Error`.

use std::error::Error;
use std::fmt;
use std::io;

use super::CollectError;
use super::refusal::Refusal;

impl<E> fmt::Display for CollectError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeclaredTooLarge { declared, limit } => {
                write!(f, "body declares {declared} bytes, over the limit of {limit} bytes")
            }
            Self::TooLarge { limit, received, .. } => {
                write!(f, "body is over the limit of {limit} bytes: {received} bytes received")
            }
            Self::Incomplete { declared, received, .. } => {
                write!(f, "body ended early: {received} of {declared} declared bytes received")
            }
            Self::Longer { declared, received, .. } => {
                write!(
                    f,
                    "body is longer than declared: {received} bytes received, {declared} declared"
                )
            }
            Self::OutOfMemory { requested, received, .. } => {
                write!(
                    f,
                    "allocation of {requested} bytes for a body failed: {received} bytes received"
                )
            }
            Self::Budget { requested, budget, received, .. } => {
                write!(
                    f,
                    "memory budget of {budget} bytes has no room for {requested} bytes of a body: \
                     {received} bytes received"
                )
            }
            Self::Stalled { frames, received, .. } => {
                write!(f, "body stalled: {frames} empty frames in a row after {received} bytes")
            }
            Self::InvalidUtf8 { valid_up_to, partial } => {
                let received = partial.len();
                write!(f, "body is not UTF-8: invalid byte at {valid_up_to} of {received} bytes")
            }
            #[cfg(feature = "json")]
            Self::InvalidJson { partial, .. } => {
                let received = partial.len();
                write!(f, "body is not JSON of the requested type: {received} bytes received")
            }
            Self::Stopped { awaited: Some(awaited), received, .. } => {
                write!(
                    f,
                    "body was stopped while it waited for {awaited} bytes of the memory budget: \
                     {received} bytes received"
                )
            }
            Self::Stopped { awaited: None, declared, received, .. } => {
                write!(f, "body was stopped: {}", Received(*received, *declared))
            }
            Self::TooSlow { arrived, required, period, received, .. } => {
                write!(
                    f,
                    "body is too slow: {arrived} of {required} required bytes in {period:?}, \
                     {received} bytes received"
                )
            }
            Self::Body { declared, received, .. } => {
                write!(f, "body failed: {}", Received(*received, *declared))
            }
        }
    }
}

/// Displays how many bytes were received, and of how many that were declared.
struct Received(u64, Option<u64>);

impl fmt::Display for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(received, Some(declared)) => {
                write!(f, "{received} of {declared} declared bytes received")
            }
            Self(received, None) => write!(f, "{received} bytes received"),
        }
    }
}

impl<E: Error + 'static> Error for CollectError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Body { source, .. } => Some(source),
            #[cfg(feature = "json")]
            Self::InvalidJson { source, .. } => Some(source),
            _ => None,
        }
    }

    fn description(&self) -> &str {
        Refusal::of_this(self).map_or("presized: body failed", Refusal::description)
    }
}

impl<E: Error + Send + Sync + 'static> From<CollectError<E>> for io::Error {
    /// Wraps the error. If the error of the body is an [`io::Error`] or is caused by one, the kind
    /// of the first one is kept. A refusal by a reader below keeps its kind too.
    fn from(error: CollectError<E>) -> Self {
        let kind = match (Refusal::of(&error), &error) {
            (Some(Refusal::TooLarge), _) => io::ErrorKind::FileTooLarge,
            (Some(Refusal::NoMemory), _) => io::ErrorKind::OutOfMemory,
            (Some(Refusal::TooLate), _) => io::ErrorKind::TimedOut,
            (None, CollectError::Incomplete { .. }) => io::ErrorKind::UnexpectedEof,
            (None, CollectError::Body { source, .. }) => io_kind(source),
            (None, _) => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

/// Returns the kind of the first [`io::Error`] among `error` and its causes.
fn io_kind(error: &(dyn Error + 'static)) -> io::ErrorKind {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return error.kind();
        }
        next = error.source();
    }
    io::ErrorKind::Other
}
