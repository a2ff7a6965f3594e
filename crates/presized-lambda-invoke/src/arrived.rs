use std::fmt;

/// The part of a response that had arrived when the call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrived {
    /// In bytes.
    pub(super) received: u64,
    /// The declared length in bytes, if there was one.
    pub(super) declared: Option<u64>,
}

impl Arrived {
    pub(super) const NOTHING: Self = Self { received: 0, declared: None };
}

impl fmt::Display for Arrived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.declared {
            Some(declared) => write!(f, "{} of {declared} bytes", self.received),
            None => write!(f, "{} bytes", self.received),
        }
    }
}
