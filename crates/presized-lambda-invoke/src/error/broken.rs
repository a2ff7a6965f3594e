use std::error::Error as StdError;
use std::fmt;
use std::io;

use presized::CollectError;

use crate::arrived::Arrived;
use crate::causes::causes;

/// The defect of a response, as [`Error`](crate::Error) displays it. The error that caused it is the
/// source of that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Broken {
    defect: Defect,
    arrived: Arrived,
}

#[derive(Clone, Copy, Debug)]
enum Defect {
    /// No head arrived.
    Missing(&'static str),
    /// The body has no end.
    Cut(&'static str),
    Invalid,
    TooSlow,
}

impl Broken {
    /// Describes an error before the head of the response arrived.
    pub(super) fn missing(source: &(dyn StdError + 'static)) -> Self {
        Self { defect: Defect::Missing(cause(source)), arrived: Arrived::NOTHING }
    }

    /// Describes an error of the connection while the response arrived.
    pub(super) fn cut(source: &(dyn StdError + 'static), arrived: Arrived) -> Self {
        Self { defect: Defect::Cut(cause(source)), arrived }
    }

    /// Describes a response that ended early without an error of the connection.
    pub(super) fn ended(arrived: Arrived) -> Self {
        Self { defect: Defect::Cut("it ended early"), arrived }
    }

    /// Describes a response that is invalid.
    pub(super) fn invalid(arrived: Arrived) -> Self {
        Self { defect: Defect::Invalid, arrived }
    }

    pub(super) fn read(error: &CollectError<io::Error>) -> Self {
        let received = error.received();
        match error {
            CollectError::Body { source, declared, .. } => {
                Self::cut(source, Arrived { received, declared: *declared })
            }
            CollectError::Incomplete { declared, .. } => {
                Self::ended(Arrived { received, declared: Some(*declared) })
            }
            CollectError::TooSlow { .. } => {
                Self { defect: Defect::TooSlow, arrived: Arrived { received, declared: None } }
            }
            _ => Self::invalid(Arrived { received, declared: None }),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrived = self.arrived;
        match self.defect {
            Defect::Missing(cause) => write!(f, "no response: {cause}"),
            Defect::Cut(cause) => write!(f, "response is incomplete: {cause} after {arrived}"),
            Defect::Invalid => write!(f, "response is invalid after {arrived}"),
            Defect::TooSlow => write!(f, "response is too slow: stopped after {arrived}"),
        }
    }
}

/// Describes an error of a connection in brief.
fn cause(error: &(dyn StdError + 'static)) -> &'static str {
    causes(error).find_map(cause_of).unwrap_or("the connection failed")
}

fn cause_of(error: &(dyn StdError + 'static)) -> Option<&'static str> {
    if let Some(error) = error.downcast_ref::<hyper::Error>() {
        return if error.is_incomplete_message() {
            Some("the connection was closed")
        } else if error.is_timeout() {
            Some("the server did not reply to pings")
        } else if error.is_parse() {
            Some("the server sent no valid HTTP")
        } else {
            None
        };
    }
    if let Some(error) = error.downcast_ref::<h2::Error>() {
        return if error.is_reset() {
            Some("the HTTP/2 stream was reset")
        } else if error.is_go_away() {
            Some("the HTTP/2 connection was closed")
        } else {
            error.get_io().and_then(|error| cause_of(error))
        };
    }
    match error.downcast_ref::<io::Error>()?.kind() {
        io::ErrorKind::UnexpectedEof => Some("the connection was closed"),
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => Some("the connection was reset"),
        io::ErrorKind::TimedOut => Some("the connection timed out"),
        _ => None,
    }
}
