//! One buffer, with the pool and the share of a budget that it belongs to.

use std::collections::TryReserveError;

use bytes::Bytes;

use crate::budget::Share;
use crate::pool::{BufferPool, POOLED_FROM};
use crate::reserve::Size;

/// A buffer that never grows by itself: bytes that are written to it must fit.
///
/// When it is dropped, it returns to its pool first, and then its share to the budget.
#[derive(Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    pool: Option<BufferPool>,
    share: Option<Share>,
}

impl Block {
    /// Creates an empty buffer, from the pool if there is one.
    pub(crate) fn new(
        size: Size,
        pool: Option<&BufferPool>,
        share: Option<Share>,
    ) -> Result<Self, TryReserveError> {
        let pool = pool.filter(|_| size.class >= POOLED_FROM).cloned();
        let bytes = match &pool {
            Some(pool) => pool.take(size.exact..=size.class)?,
            None => reserved(size.exact)?,
        };
        Ok(Self { bytes, pool, share })
    }

    /// Creates a buffer with content.
    pub(crate) fn from_vec(bytes: Vec<u8>) -> Self {
        Self { bytes, pool: None, share: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Returns whether it goes back to a pool. A pooled buffer must not be reallocated.
    pub(crate) fn is_pooled(&self) -> bool {
        self.pool.is_some()
    }

    /// Writes as much of `data` as there is room for, and returns the number of bytes.
    pub(crate) fn fill(&mut self, data: &[u8]) -> usize {
        let count = data.len().min(self.bytes.capacity() - self.bytes.len());
        self.bytes.extend_from_slice(&data[..count]);
        count
    }

    /// Reallocates to `capacity`. `share` covers all of it and replaces the earlier share.
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

    /// Copies the content to a buffer of its length. `share` covers that and replaces the earlier
    /// share. Returns false, and changes nothing, if there is no memory for it.
    ///
    /// `Vec::shrink_to_fit` would abort if the allocator failed.
    pub(crate) fn trim(&mut self, share: Option<Share>) -> bool {
        let Ok(mut exact) = reserved(self.bytes.len()) else { return false };
        exact.extend_from_slice(&self.bytes);
        *self = Self { bytes: exact, pool: None, share };
        true
    }

    /// As [`trim`](Self::trim), and the share becomes as small as the content.
    pub(crate) fn trim_with_share(&mut self) {
        let mut share = self.share.take();
        if self.trim(None) {
            let len = self.bytes.len() as u64;
            share.iter_mut().for_each(|share| share.shrink(len));
        }
        self.share = share;
    }

    /// Returns the buffer itself, which leaves the accounts of the pool and the budget.
    pub(crate) fn into_vec(mut self) -> Vec<u8> {
        debug_assert!(!self.is_pooled());
        std::mem::take(&mut self.bytes)
    }

    /// Returns the content, which owns the buffer and the share.
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
        // The memory is freed before others can get its share.
        self.bytes = Vec::new();
    }
}

/// Returns an empty buffer of exactly this capacity.
fn reserved(capacity: usize) -> Result<Vec<u8>, TryReserveError> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(capacity)?;
    Ok(bytes)
}
