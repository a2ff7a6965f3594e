//! The error of a body, where its type is a box or is not known.

use std::error::Error;
use std::fmt;

/// The error of a body that an adapter reads: of the transport, or of a layer between it and the
/// adapter. The error itself is the [`source`](Error::source).
///
/// It stands for errors of any type, boxed ones among them, which are not an [`Error`] by
/// themselves; so a [`CollectError<BodyError>`](crate::CollectError) always is one.
#[derive(Debug)]
pub struct BodyError(Box<dyn Error + Send + Sync>);

impl BodyError {
    pub(crate) fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }

    /// The error as it came from the body.
    pub fn into_inner(self) -> Box<dyn Error + Send + Sync> {
        self.0
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("error of the body below")
    }
}

impl Error for BodyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}
