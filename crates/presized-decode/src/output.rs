//! The buffer of decoded frames.

use bytes::{Bytes, BytesMut};

/// Blocks of memory from which frames are split.
///
/// A block is used again as soon as its frames are dropped. Small frames share a block.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// The free rest of the block, which is initialised.
    rest: BytesMut,
    size: usize,
}

impl Output {
    /// Returns the room for the next frame. It is never empty.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.rest.len() <= self.size / 4 {
            if self.size < LAST {
                self.size = (2 * self.size).max(FIRST);
                // The old block is freed first.
                self.rest = BytesMut::new();
            }
            self.rest.clear();
            self.rest.reserve(self.size);
            self.rest.resize(self.size, 0);
        }
        &mut self.rest
    }

    /// Takes the first bytes of the room as a frame.
    pub(crate) fn take(&mut self, len: usize) -> Bytes {
        self.rest.split_to(len).freeze()
    }
}

/// Bytes of the first block. It is enough for many bodies.
const FIRST: usize = 16 << 10;

/// Bytes of the largest block, and so of the largest frame.
const LAST: usize = 64 << 10;
