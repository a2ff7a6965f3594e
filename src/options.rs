//! The options of one read.

use crate::Reader;
use crate::declared::Declared;

/// How one body is read.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) reader: Reader,
    pub(crate) declared: Declared,
    pub(crate) target: Target,
    /// Reading stops at the limit, and that is no error.
    pub(crate) prefix: bool,
}

/// The destination of content, as far as the loop has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// `Bytes`: a frame of the body as it came, or memory from a pool.
    Bytes,
    /// A new buffer that belongs to the caller.
    Vec,
    /// A buffer of the caller. Bytes that have arrived stay in it if reading fails.
    Lent,
}
