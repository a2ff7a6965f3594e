//! The error of a body whose error type is a box, or is not known.

use std::error::Error;
use std::fmt;

/// The error of a body, of any type: from the transport, or from a layer between the transport and
/// the reader.
///
/// The wrapped error is the [`source`](Error::source). Use `BodyError` if the error of the body is a
/// `Box<dyn Error>`, which does not implement [`Error`]. `CollectError<BodyError>` implements it.
/// [`CollectError::boxed`](crate::CollectError::boxed) converts the error.
#[derive(Debug)]
pub struct BodyError(Box<dyn Error + Send + Sync>);

impl BodyError {
    /// Wraps an error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }

    /// Returns the wrapped error.
    pub fn into_inner(self) -> Box<dyn Error + Send + Sync> {
        self.0
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("body error")
    }
}

impl Error for BodyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}
