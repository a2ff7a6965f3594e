use std::error::Error as StdError;
use std::fmt;

use super::super::BoxError;

/// The error of a response that is not an event stream and does not claim to be one.
#[derive(Debug)]
pub(super) struct ContentTypeError {
    pub(super) found: String,
    pub(super) source: BoxError,
}

impl fmt::Display for ContentTypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "response has the content type {:?} and is not an event stream: the server may not \
             support streamed responses",
            self.found
        )
    }
}

impl StdError for ContentTypeError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.source)
    }
}
