//! The trait of all decoders.

use crate::memory::Memory;
use crate::{Coding, DecodeError};

/// The decoder of one coding.
pub(crate) trait Stage: Send + Sync {
    /// Decodes from the front of `input` into the front of `output`, and removes from `input` what
    /// was read.
    ///
    /// Returns the number of bytes written, and the error after them. If nothing was written and
    /// there is no error, then `input` is empty and more is needed.
    fn decode(&mut self, input: &mut &[u8], output: &mut [u8]) -> (usize, Result<(), DecodeError>);

    /// Checks that the content is complete, after the last input. Content without a coded byte is
    /// complete.
    fn finish(&self) -> Result<(), DecodeError>;
}

pub(crate) fn stage(coding: Coding, memory: &Memory) -> Box<dyn Stage> {
    match coding {
        #[cfg(feature = "gzip")]
        Coding::Gzip => Box::new(crate::gzip::Gzip::new(memory)),
        #[cfg(feature = "deflate")]
        Coding::Deflate => Box::new(crate::deflate::Deflate::new(memory)),
        #[cfg(feature = "brotli")]
        Coding::Brotli => Box::new(crate::brotli::Brotli::new(memory)),
        #[cfg(feature = "zstd")]
        Coding::Zstd => Box::new(crate::zstd::Zstd::new(memory)),
    }
}
