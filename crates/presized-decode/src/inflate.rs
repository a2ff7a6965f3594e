//! Raw deflate (RFC 1951), which gzip and zlib wrap.

use flate2::{Decompress, FlushDecompress, Status};

use crate::memory::{Memory, Share};
use crate::{Coding, DecodeError};

/// The window of deflate in bytes (RFC 1951 §2).
pub(crate) const WINDOW: u64 = 32 << 10;

/// The memory of one decoder in bytes: the window and the tables.
const MEMORY: u64 = 48 << 10;

pub(crate) struct Inflate {
    raw: Decompress,
    coding: Coding,
    _share: Share,
}

impl Inflate {
    /// Allocates a decoder, if the bound allows it.
    pub(crate) fn new(coding: Coding, memory: &Memory) -> Result<Self, DecodeError> {
        let share = memory.claim(MEMORY).ok_or_else(|| memory.error(coding, WINDOW))?;
        Ok(Self { raw: Decompress::new(false), coding, _share: share })
    }

    /// Begins a new stream.
    #[cfg(feature = "gzip")]
    pub(crate) fn reset(&mut self) {
        self.raw.reset(false);
    }

    /// Returns the number of bytes written, and whether the stream has ended.
    pub(crate) fn decode(
        &mut self,
        input: &mut &[u8],
        output: &mut [u8],
    ) -> (usize, Result<bool, DecodeError>) {
        let (read, written) = (self.raw.total_in(), self.raw.total_out());
        let status = self.raw.decompress(input, output, FlushDecompress::None);
        let read = (self.raw.total_in() - read) as usize;
        let written = (self.raw.total_out() - written) as usize;
        let stuck = read == 0 && written == 0 && !input.is_empty();
        *input = &input[read..];
        match status {
            Ok(Status::StreamEnd) => (written, Ok(true)),
            Ok(_) if !stuck => (written, Ok(false)),
            _ => (written, Err(DecodeError::Corrupt { coding: self.coding })),
        }
    }
}
