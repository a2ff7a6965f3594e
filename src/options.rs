//! How one body is to be read.

use crate::reserve::Bounds;
use crate::{BufferPool, ContentLength, LengthHistory, MemoryBudget, Mismatch};

/// What [`Collect`](crate::Collect) has been told.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) bounds: Bounds,
    pub(crate) content_length: ContentLength,
    /// The head says that there is no content, whatever size the body gives itself.
    pub(crate) no_content: bool,
    pub(crate) mismatch: Mismatch,
    /// Trailers were announced, so a body without them is not whole.
    pub(crate) trailers_announced: bool,
    /// A layer below checks the content once it is complete, so an error after that counts.
    pub(crate) checked_at_end: bool,
    pub(crate) target: Target,
    /// The limit is where reading stops, and not an error.
    pub(crate) prefix: bool,
    pub(crate) reuse: Reuse,
}

/// Where content goes, as far as it makes a difference to the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// `Bytes`, which can be a frame of the body as it came, or memory of a pool.
    Bytes,
    /// A buffer of its own.
    Vec,
    /// The caller's buffer, where what has arrived stays if reading fails.
    Lent,
}

/// What bodies share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reuse {
    pub(crate) pool: Option<BufferPool>,
    pub(crate) budget: Option<MemoryBudget>,
    pub(crate) history: Option<LengthHistory>,
}
