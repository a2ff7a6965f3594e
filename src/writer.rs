//! Memory that is written to, and becomes content that is sent.
//!
//! Decides how it grows. Where memory comes from and goes back to is `block.rs`.

use std::fmt;
use std::io::{self, ErrorKind, Write};

use bytes::Bytes;

use crate::BufferPool;
use crate::block::Block;
use crate::pool::POOLED_FROM;
use crate::reserve::Size;

/// A buffer of a [`BufferPool`] that is written to and becomes [`Bytes`].
///
/// Made by [`BufferPool::writer`], for what is serialised before it is sent. Its memory
/// returns to the pool when the last clone of the content is dropped, and with the writer
/// where it does not come to that: after an error, a panic, or a future that is dropped.
///
/// Nothing is reserved before the first byte. Then it is as much as is expected, so that
/// content within that is written once and never moved. Content that outgrows it is moved
/// to buffers that double.
///
/// # Errors
///
/// Writing fails with [`OutOfMemory`](ErrorKind::OutOfMemory) where there is no memory, and
/// with [`FileTooLarge`](ErrorKind::FileTooLarge) above the [`limit`](Self::limit). A write
/// that fails has written nothing. An expected length never makes an error.
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
/// // The first grew, the second was one buffer of the right size, the third the same buffer.
/// assert_eq!(pool.stats().hits, 1);
/// # Ok(())
/// # }
/// ```
pub struct PooledWriter {
    block: Block,
    pool: BufferPool,
    expected: usize,
    limit: usize,
    /// Content ends here, unless there is more memory for it: where the buffer does, or the limit.
    end: usize,
}

impl BufferPool {
    /// A buffer to write to, of which `expected` bytes are likely to be filled; see
    /// [`LengthHistory::expected`](crate::LengthHistory::expected).
    pub fn writer(&self, expected: Option<u64>) -> PooledWriter {
        // What cannot be addressed cannot be had either, and is given up at the first write.
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
    /// Sets the limit in bytes, inclusive. Bytes that were written before count.
    #[must_use]
    pub fn limit(mut self, bytes: u64) -> Self {
        self.limit = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.end = self.block.capacity().min(self.limit);
        self
    }

    /// What was written.
    ///
    /// It keeps the whole buffer until its last clone is dropped. Only content under 16 KiB in
    /// a pooled buffer, where more was expected, is copied to memory of its own length, and the
    /// buffer returns at once.
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

    /// Makes room for `more` bytes, more than there is room for now.
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

    /// An error without a cause, which would have to be allocated.
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

    // Serialisers write a few bytes at a time.
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

/// The first buffer where nothing is expected, as in `serde_json::to_vec`.
const SMALLEST: usize = 128;
