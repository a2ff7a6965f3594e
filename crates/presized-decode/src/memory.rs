//! The account of the memory that the decoders of one body hold.

use std::sync::Arc;
#[cfg(feature = "brotli")]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{Coding, DecodeError};

/// Bounds the memory of the decoders of one body together.
///
/// One body is decoded by one thread at a time. The counters are atomic so that the body can move
/// to another thread.
#[derive(Clone, Debug)]
pub(crate) struct Memory(Arc<Account>);

#[derive(Debug)]
struct Account {
    bound: u64,
    used: AtomicU64,
    /// The bytes that the last refused claim would have led to, or 0.
    refused: AtomicU64,
    /// The allocator refused bytes that had been granted.
    #[cfg(feature = "brotli")]
    exhausted: AtomicBool,
}

impl Memory {
    pub(crate) fn new(bound: u64) -> Self {
        Self(Arc::new(Account {
            bound,
            used: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            #[cfg(feature = "brotli")]
            exhausted: AtomicBool::new(false),
        }))
    }

    /// Counts these bytes until the share is dropped. `None` if they go over the bound.
    pub(crate) fn claim(&self, bytes: u64) -> Option<Share> {
        self.check(bytes).then(|| {
            self.0.used.fetch_add(bytes, Relaxed);
            Share { memory: self.clone(), bytes }
        })
    }

    /// Returns whether a claim of these bytes would be granted.
    pub(crate) fn check(&self, bytes: u64) -> bool {
        let needed = self.0.used.load(Relaxed).saturating_add(bytes);
        let fits = needed <= self.0.bound;
        if !fits {
            self.0.refused.store(needed, Relaxed);
        }
        fits
    }

    /// Returns whether a claim was refused.
    #[cfg(feature = "brotli")]
    pub(crate) fn has_refused(&self) -> bool {
        self.0.refused.load(Relaxed) != 0
    }

    /// Records that the allocator refused bytes that had been granted.
    #[cfg(feature = "brotli")]
    pub(crate) fn exhaust(&self) {
        self.0.exhausted.store(true, Relaxed);
    }

    /// Returns whether the allocator refused bytes that had been granted.
    #[cfg(feature = "brotli")]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.0.exhausted.load(Relaxed)
    }

    /// Returns the error of the claim that was refused.
    pub(crate) fn error(&self, coding: Coding, window: u64) -> DecodeError {
        let Account { bound, refused, .. } = &*self.0;
        DecodeError::TooMuchMemory { coding, window, needed: refused.load(Relaxed), bound: *bound }
    }
}

/// Bytes that are counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    memory: Memory,
    bytes: u64,
}

impl Share {
    /// Raises the share to these bytes, if it is smaller. Returns false if the bound refuses it.
    #[cfg(feature = "zstd")]
    pub(crate) fn raise(&mut self, bytes: u64) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let granted = self.memory.check(more);
        if granted {
            self.memory.0.used.fetch_add(more, Relaxed);
            self.bytes += more;
        }
        granted
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.memory.0.used.fetch_sub(self.bytes, Relaxed);
    }
}
