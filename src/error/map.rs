//! Errors of the same kind with another error of the body.

use std::error::Error;

use super::CollectError;
use crate::BodyError;

impl<E> CollectError<E> {
    /// Replaces the error of the body.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::error::Error;
    /// use std::io;
    /// use presized::CollectError;
    ///
    /// // `CollectError<Box<dyn Error>>` is not an `Error`; `CollectError<io::Error>` is one.
    /// fn convert(error: CollectError<Box<dyn Error + Send + Sync>>) -> CollectError<io::Error> {
    ///     error.map_body(io::Error::other)
    /// }
    /// ```
    pub fn map_body<T>(self, map: impl FnOnce(E) -> T) -> CollectError<T> {
        match self {
            Self::DeclaredTooLarge { declared, limit } => {
                CollectError::DeclaredTooLarge { declared, limit }
            }
            Self::TooLarge { limit, received, partial } => {
                CollectError::TooLarge { limit, received, partial }
            }
            Self::Incomplete { declared, received, partial } => {
                CollectError::Incomplete { declared, received, partial }
            }
            Self::Longer { declared, received, partial } => {
                CollectError::Longer { declared, received, partial }
            }
            Self::OutOfMemory { requested, received, partial } => {
                CollectError::OutOfMemory { requested, received, partial }
            }
            Self::Budget { requested, budget, received, partial } => {
                CollectError::Budget { requested, budget, received, partial }
            }
            Self::Stalled { frames, received, partial } => {
                CollectError::Stalled { frames, received, partial }
            }
            Self::Stopped { declared, received, awaited, partial } => {
                CollectError::Stopped { declared, received, awaited, partial }
            }
            Self::TooSlow { arrived, required, period, received, partial } => {
                CollectError::TooSlow { arrived, required, period, received, partial }
            }
            Self::InvalidUtf8 { valid_up_to, partial } => {
                CollectError::InvalidUtf8 { valid_up_to, partial }
            }
            #[cfg(feature = "json")]
            Self::InvalidJson { source, partial } => CollectError::InvalidJson { source, partial },
            Self::Body { source, declared, received, partial } => {
                CollectError::Body { source: map(source), declared, received, partial }
            }
        }
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> CollectError<E> {
    /// Replaces the error of the body by a [`BodyError`] that holds it, whatever its type.
    ///
    /// # Examples
    ///
    /// ```
    /// use presized::{BodyError, CollectError};
    ///
    /// type BoxError = Box<dyn std::error::Error + Send + Sync>;
    ///
    /// // `CollectError<BoxError>` is no `Error`, and `CollectError<BodyError>` is one.
    /// fn convert(error: CollectError<BoxError>) -> CollectError<BodyError> {
    ///     error.boxed()
    /// }
    /// # let _ = convert;
    /// ```
    pub fn boxed(self) -> CollectError<BodyError> {
        self.map_body(BodyError::new)
    }
}
