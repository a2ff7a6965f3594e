//! What a failed read leaves.

use std::fmt;

use bytes::Bytes;

use crate::content::Content;

/// What had arrived of a body when reading it failed.
///
/// It holds its memory, a buffer of a pool, and a share of a budget, where the body had these,
/// until it is dropped. `Debug` shows how many bytes there are and never the bytes.
#[derive(Default)]
pub struct Partial(
    // Boxed to keep the error, which every caller's `Result` has room for, small.
    Option<Box<Content>>,
);

impl Partial {
    pub(crate) fn new(content: Content) -> Self {
        Self((content.len() > 0).then(|| Box::new(content)))
    }

    pub(crate) fn from_vec(content: Vec<u8>) -> Self {
        Self::new(Content::from_vec(content))
    }

    #[cfg(feature = "json")]
    pub(crate) fn from_bytes(content: Bytes) -> Self {
        let mut held = Content::default();
        held.hold(content);
        Self::new(held)
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |content| content.len())
    }

    /// Whether nothing had arrived.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, in one buffer of their length.
    ///
    /// A body of unknown length is in several blocks until here. Where there is no
    /// memory to join them, the first block is returned.
    pub fn into_bytes(self) -> Bytes {
        self.0.map_or_else(Bytes::new, |content| content.into_partial_bytes())
    }
}

impl fmt::Debug for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Partial({} bytes)", self.len())
    }
}
