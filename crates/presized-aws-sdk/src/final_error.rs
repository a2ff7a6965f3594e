//! An error that must not be retried.

use std::sync::{Arc, Mutex, PoisonError};

use crate::Error;

/// An error that must not be retried, on its way from the body to the deserializer.
///
/// The SDK retries after every error that a body yields. A final error therefore bypasses the body:
/// the body ends empty, and the deserializer returns the error.
#[derive(Clone, Debug, Default)]
pub(crate) struct FinalError(Arc<Mutex<Option<Error>>>);

impl FinalError {
    pub(crate) fn set(&self, error: Error) {
        self.replace(Some(error));
    }

    pub(crate) fn take(&self) -> Option<Error> {
        self.replace(None)
    }

    fn replace(&self, error: Option<Error>) -> Option<Error> {
        // No code panics while it holds the lock.
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut slot, error)
    }
}
