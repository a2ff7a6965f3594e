use std::fmt;
use std::str::Utf8Error;

use super::{BoxError, FunctionError};

/// Why the payload of a response cannot be read as the requested type.
#[derive(Debug)]
#[non_exhaustive]
pub enum PayloadError {
    /// The function failed, and the payload is its error report. `Display` describes the failure.
    Function(Box<FunctionError>),
    /// The payload is not JSON of the requested type.
    Json(BoxError),
    /// The payload is not UTF-8.
    Utf8(Utf8Error),
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(error) => write!(f, "{error}"),
            Self::Json(_) => f.write_str("payload is not JSON of the requested type"),
            Self::Utf8(_) => f.write_str("payload is not UTF-8"),
        }
    }
}

impl std::error::Error for PayloadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // `Display` describes it, and it has no source.
            Self::Function(_) => None,
            Self::Json(source) => Some(&**source),
            Self::Utf8(source) => Some(source),
        }
    }
}
