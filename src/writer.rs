//! The pooled writer: a buffer that is written to and becomes content to send.
//!
//! Decides how the buffer grows. `block.rs` takes it from the pool and returns it.

use std::fmt;
use std::io::{self, ErrorKind, Write};

use bytes::Bytes;

use crate::BufferPool;
use crate::block::Block;
use crate::pool::POOLED_FROM;
use crate::reserve::Size;

/// A buffer of a [`BufferPool`] that is written to and becomes [`Bytes`].
///
/// [`BufferPool::writer`] creates it, for content that is serialised before it is sent. The buffer
/// returns to the pool when the last clone of the content is dropped, or when the writer is dropped
/// before it gave content.
///
/// Nothing is reserved before the first byte. Then the expected length is reserved. Content that is
/// not longer than this is never moved. Longer content moves to buffers that double.
///
/// # Errors
///
/// A write fails with [`OutOfMemory`](ErrorKind::OutOfMemory) if there is no memory, and with
/// [`FileTooLarge`](ErrorKind::FileTooLarge) above the [`limit`](Self::limit). A failed write has
/// written nothing. A wrong expected length never causes an error.
///
/// # Examples
///
/// ```
/// use std::io::Write;
/// use presized::{BufferPool, LengthHistory};
///
/// # fn main() -> std::io::Result<()> {
/// let (pool, history) = (BufferPool::new(64 << 20), LengthHistory::new());
/// for _ in 0..3 {
///     let mut writer = pool.writer(history.expected());
///     for number in 0..100_000 {
///         writeln!(writer, "{number}")?;
///     }
///     let content = writer.into_bytes();
///     history.observe(content.len() as u64);
/// }
/// // The first content grew, the second got one buffer, and the third reused it.
/// assert_eq!(pool.stats().hits, 1);
/// # Ok(())
/// # }
/// ```
#[must_use = "a writer does nothing until it is written to"]
pub struct PooledWriter {
    block: Block,
    pool: BufferPool,
    expected: usize,
    limit: usize,
    /// Where content must end without a reservation: the end of the buffer, or the limit.
    end: usize,
}

impl BufferPool {
    /// Creates a writer for content of about `expected` bytes. Use
    /// [`LengthHistory::expected`](crate::LengthHistory::expected) to predict it.
    pub fn writer(&self, expected: Option<u64>) -> PooledWriter {
        // A length that cannot be addressed fails to be reserved, and the first write retries.
        let expected = expected.map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        PooledWriter {
            block: Block::default(),
            pool: self.clone(),
            expected,
            limit: usize::MAX,
            end: 0,
        }
    }
}

impl PooledWriter {
    /// Sets the limit in bytes, inclusive. It includes bytes that are already written.
    pub fn limit(mut self, bytes: u64) -> Self {
        self.limit = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.end = self.block.capacity().min(self.limit);
        self
    }

    /// Returns the content.
    ///
    /// The content keeps the whole buffer until its last clone is dropped. Content under 16 KiB in
    /// a pooled buffer is copied to a buffer of exactly its length, and the pooled buffer returns at
    /// once.
    pub fn into_bytes(self) -> Bytes {
        let len = self.block.len();
        if self.block.is_pooled() && len < POOLED_FROM {
            if let Ok(mut exact) = Block::new(Size { exact: len, class: len }, None, None) {
                exact.fill(self.block.as_ref());
                return exact.into_bytes();
            }
        }
        self.block.into_bytes()
    }

    /// Makes room for `more` bytes, which do not fit now.
    #[cold]
    fn grow(&mut self, more: usize) -> io::Result<()> {
        let held = self.block.capacity();
        let needed = self.block.len().checked_add(more).ok_or(ErrorKind::OutOfMemory)?;
        if needed > self.limit {
            let limit = self.limit;
            let message = format!("content is over the limit of {limit} bytes");
            return Err(io::Error::new(ErrorKind::FileTooLarge, message));
        }
        let likely = if held == 0 { self.expected.max(SMALLEST) } else { held.saturating_mul(2) };
        let mut larger =
            self.reserve(needed.max(likely)).or_else(|_too_much| self.reserve(needed))?;
        larger.fill(self.block.as_ref());
        self.block = larger;
        self.end = self.block.capacity().min(self.limit);
        Ok(())
    }

    /// The error has no cause, because a cause would need an allocation.
    fn reserve(&self, bytes: usize) -> Result<Block, ErrorKind> {
        let size = Size::within(bytes as u64, self.limit as u64);
        let size = size.map_err(|_| ErrorKind::OutOfMemory)?;
        Block::new(size, Some(&self.pool), None).map_err(|_| ErrorKind::OutOfMemory)
    }
}

impl Write for PooledWriter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.write_all(data)?;
        Ok(data.len())
    }

    // Inlined, because serialisers write a few bytes at a time.
    #[inline]
    fn write_all(&mut self, data: &[u8]) -> io::Result<()> {
        if data.len() > self.end.saturating_sub(self.block.len()) {
            self.grow(data.len())?;
        }
        self.block.fill(data);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for PooledWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PooledWriter")
            .field("len", &self.block.len())
            .field("capacity", &self.block.capacity())
            .field("expected", &self.expected)
            .field("limit", &self.limit)
            .finish()
    }
}

/// The first buffer without an expected length, in bytes, as in `serde_json::to_vec`.
const SMALLEST: usize = 128;
