//! One buffer, and where it and its share of a budget go when it is dropped.

use std::collections::TryReserveError;

use bytes::Bytes;

use crate::budget::Share;
use crate::pool::{BufferPool, POOLED_FROM};
use crate::reserve::Size;

/// A buffer that never grows by itself: what is written to it must fit.
///
/// Returns to its pool when it is dropped, and only then gives its share back.
#[derive(Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    pool: Option<BufferPool>,
    share: Option<Share>,
}

impl Block {
    /// An empty buffer, from the pool where there is one.
    pub(crate) fn new(
        size: Size,
        pool: Option<&BufferPool>,
        share: Option<Share>,
    ) -> Result<Self, TryReserveError> {
        let pool = pool.filter(|_| size.class >= POOLED_FROM).cloned();
        let bytes = match &pool {
            Some(pool) => pool.take(size.exact..=size.class)?,
            None => {
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(size.exact)?;
                bytes
            }
        };
        Ok(Self { bytes, pool, share })
    }

    /// A buffer that somebody has filled.
    pub(crate) fn from_vec(bytes: Vec<u8>) -> Self {
        Self { bytes, pool: None, share: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Whether it goes back to a pool, so that it must not be reallocated.
    pub(crate) fn is_pooled(&self) -> bool {
        self.pool.is_some()
    }

    /// Writes as much of `data` as there is room for, and returns how much that is.
    pub(crate) fn fill(&mut self, data: &[u8]) -> usize {
        let count = data.len().min(self.bytes.capacity() - self.bytes.len());
        self.bytes.extend_from_slice(&data[..count]);
        count
    }

    /// Reallocates to `capacity`. `share` is for all of it, and the old one goes back.
    pub(crate) fn grow(
        &mut self,
        capacity: usize,
        share: Option<Share>,
    ) -> Result<(), TryReserveError> {
        debug_assert!(!self.is_pooled());
        let more = capacity.saturating_sub(self.bytes.len());
        self.bytes.try_reserve_exact(more)?;
        self.share = share;
        Ok(())
    }

    /// The buffer itself, which leaves the pool's and the budget's account.
    pub(crate) fn into_vec(mut self) -> Vec<u8> {
        debug_assert!(!self.is_pooled());
        std::mem::take(&mut self.bytes)
    }

    /// The content, which holds on to the buffer and the share.
    pub(crate) fn into_bytes(self) -> Bytes {
        if self.bytes.is_empty() {
            Bytes::new()
        } else if self.pool.is_none() && self.share.is_none() {
            Bytes::from(self.into_vec())
        } else {
            Bytes::from_owner(self)
        }
    }
}

impl AsRef<[u8]> for Block {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.put(std::mem::take(&mut self.bytes));
        }
        // The memory is gone before its share is free for others.
        self.bytes = Vec::new();
    }
}
