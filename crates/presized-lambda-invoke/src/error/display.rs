//! `Display` and the source of an error.

use std::fmt;
use std::io;

use presized::CollectError;

use super::Error;
use crate::ErrorKind;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            ErrorKind::Config(_) => f.write_str("client cannot be built"),
            ErrorKind::BadInput(_) => f.write_str("call cannot be written as a request"),
            ErrorKind::Credentials(_) => f.write_str("no credentials are available"),
            ErrorKind::Connect(_) => {
                f.write_str("connection failed before the request was processed")
            }
            ErrorKind::Service(error) => write!(f, "{error}"),
            ErrorKind::Function(error) => write!(f, "{error}"),
            ErrorKind::Timeout { after, limit, phase } => {
                write!(f, "timed out after {after:.3?}: {limit} {phase}")?;
                match self.0.arrived {
                    Some(arrived) => write!(f, ", after {arrived}"),
                    None => Ok(()),
                }
            }
            ErrorKind::BudgetFull { after, requested, capacity, in_use } => {
                write!(f, "timed out after {after:.3?}: ")?;
                match requested {
                    Some(requested) => {
                        write!(f, "the response waited for {requested} bytes of the memory budget")
                    }
                    None => {
                        let again = if self.0.attempts == 0 { "" } else { " again" };
                        write!(f, "the call was not sent{again}, because of a full memory budget")
                    }
                }?;
                write!(
                    f,
                    " ({in_use} of {capacity} bytes are in use): use a larger budget, fewer calls \
                     at a time or a smaller limit"
                )
            }
            ErrorKind::Broken(_) => match &self.0.broken {
                Some(broken) => write!(f, "{broken}"),
                None => f.write_str("response is missing, incomplete or invalid"),
            },
            ErrorKind::TooLarge(_) => f.write_str("response is too large"),
            ErrorKind::Memory(_) => f.write_str("no memory for the response"),
        }?;
        if self.0.attempts > 1 {
            write!(f, " (after {} attempts)", self.0.attempts)?;
        }
        if self.0.retry_quota_exhausted {
            f.write_str("; not retried, because the retry quota is exhausted")?;
        }
        // The description of a failed function says already that it ran.
        if self.0.may_have_run && !matches!(self.0.kind, ErrorKind::Function(_)) {
            write!(f, "; the function may have run")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Broken(source) => match source.downcast_ref::<CollectError<io::Error>>() {
                // `Display` describes both of them.
                Some(CollectError::Body { source, .. }) => Some(source),
                Some(CollectError::Incomplete { .. }) => None,
                _ => Some(&**source),
            },
            ErrorKind::Config(source)
            | ErrorKind::BadInput(source)
            | ErrorKind::Credentials(source)
            | ErrorKind::Connect(source) => Some(&**source),
            ErrorKind::TooLarge(source) | ErrorKind::Memory(source) => Some(source),
            // `Display` describes all of them, and they have no source.
            ErrorKind::Service(_)
            | ErrorKind::Function(_)
            | ErrorKind::Timeout { .. }
            | ErrorKind::BudgetFull { .. } => None,
        }
    }
}
