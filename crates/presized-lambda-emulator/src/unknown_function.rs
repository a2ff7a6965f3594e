//! The error for a function name that the emulator does not have.

use std::error::Error;
use std::fmt;
use std::io;

/// The error of a method that names a function which the emulator does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFunction {
    name: String,
}

impl UnknownFunction {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned() }
    }
}

impl fmt::Display for UnknownFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "emulator has no function {:?}", self.name)
    }
}

impl Error for UnknownFunction {}

impl From<UnknownFunction> for io::Error {
    fn from(error: UnknownFunction) -> Self {
        Self::new(io::ErrorKind::NotFound, error)
    }
}
