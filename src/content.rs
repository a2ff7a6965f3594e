//! The bytes of a body that have arrived, and the buffer that holds them.
//!
//! Carries out what `reserve.rs` decides. Every reservation can fail. This module knows no body, no
//! limit and no declared length.

use bytes::{Buf, Bytes};

use crate::block::Block;
use crate::budget::Share;
use crate::pool::BufferPool;
use crate::reserve::{self, Size};

/// Content in one contiguous buffer.
#[derive(Default)]
pub(crate) struct Content {
    /// The first frame while it can still be the whole body. It is handed over, or copied to the
    /// block when there is one.
    held: Bytes,
    block: Block,
    /// Bytes at the start of the block that are not content. They were in the buffer of the caller
    /// before.
    base: usize,
    pool: Option<BufferPool>,
    reservations: u32,
    peak: usize,
}

/// The allocator has no memory for this many bytes.
#[derive(Debug)]
pub(crate) struct OutOfMemory(pub(crate) usize);

impl Content {
    /// Creates empty content in memory from `pool`, or from the allocator.
    pub(crate) fn new(pool: Option<BufferPool>) -> Self {
        Self { pool, ..Self::default() }
    }

    /// Creates empty content that is appended to `buffer`.
    pub(crate) fn behind(buffer: Vec<u8>) -> Self {
        Self { base: buffer.len(), ..Self::from_vec(buffer) }
    }

    /// Creates content that has arrived already.
    pub(crate) fn from_vec(content: Vec<u8>) -> Self {
        Self { block: Block::from_vec(content), ..Self::default() }
    }

    /// Returns the number of bytes that have arrived.
    pub(crate) fn len(&self) -> usize {
        self.held.len() + self.block.len() - self.base
    }

    /// Returns how many bytes the block can hold behind the base.
    pub(crate) fn capacity(&self) -> usize {
        self.block.capacity() - self.base
    }

    /// Returns whether more bytes fit without a reservation.
    pub(crate) fn has_room(&self) -> bool {
        self.block.len() < self.block.capacity()
    }

    /// Returns the number of reservations.
    pub(crate) fn reservations(&self) -> u32 {
        self.reservations
    }

    /// Returns the most bytes that were held at one time, with both buffers of a reallocation.
    pub(crate) fn peak(&self) -> usize {
        self.peak
    }

    /// Returns how much of a budget a block of this size needs at most.
    pub(crate) fn share_of(&self, size: Size) -> usize {
        if self.pool.is_some() { size.class } else { size.exact }
    }

    /// Keeps the first frame without a copy.
    pub(crate) fn hold(&mut self, frame: Bytes) {
        debug_assert_eq!(self.len(), 0);
        self.held = frame;
    }

    /// Gives the block this size. `share` covers all of it.
    pub(crate) fn reserve(&mut self, size: Size, share: Option<Share>) -> Result<(), OutOfMemory> {
        let before = self.capacity();
        let failed = |_| OutOfMemory(size.exact);
        if self.pool.is_none() {
            // The allocator may have room behind the block, or move pages instead of bytes.
            self.block.grow(self.base.saturating_add(size.exact), share).map_err(failed)?;
        } else {
            let mut larger = Block::new(size, self.pool.as_ref(), share).map_err(failed)?;
            larger.fill(self.block.as_ref());
            self.block = larger;
        }
        self.note_reservation(before);
        let held = std::mem::take(&mut self.held);
        let copied = self.block.fill(&held);
        debug_assert_eq!(copied, held.len());
        Ok(())
    }

    /// Copies as much of `data` as there is room for.
    pub(crate) fn fill(&mut self, data: &mut impl Buf) {
        loop {
            let count = self.block.fill(data.chunk());
            if count == 0 {
                return;
            }
            data.advance(count);
        }
    }

    /// Returns whether a result keeps too much unused capacity. `is_counted` says that a budget
    /// counts it.
    pub(crate) fn has_slack(&self, is_counted: bool) -> bool {
        let (len, capacity) = (self.block.len(), self.block.capacity());
        self.held.is_empty() && reserve::is_slack(len, capacity, self.block.is_pooled(), is_counted)
    }

    /// Frees unused capacity. `share` covers the content.
    ///
    /// If there is no memory for the moment in which both buffers exist, the content stays as it
    /// is.
    pub(crate) fn trim(&mut self, share: Option<Share>) {
        let before = self.block.capacity();
        if self.block.trim(share) {
            self.note_reservation(before);
        }
    }

    /// Frees unused capacity when the read is over. The share of the content becomes smaller too.
    pub(crate) fn trim_with_share(&mut self) {
        self.block.trim_with_share();
    }

    /// Returns the content in order, in chunks that are not empty.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        [&*self.held, self.block.as_ref()].into_iter().filter(|chunk| !chunk.is_empty())
    }

    /// Returns the buffer, with what the caller had in it.
    pub(crate) fn into_vec(self) -> Vec<u8> {
        debug_assert!(self.held.is_empty());
        self.block.into_vec()
    }

    /// Returns the content, which can be the first frame without a copy.
    pub(crate) fn into_bytes(self) -> Bytes {
        if self.held.is_empty() { self.block.into_bytes() } else { self.held }
    }

    /// `replaced` is memory that existed beside what is held now.
    fn note_reservation(&mut self, replaced: usize) {
        self.reservations += 1;
        self.peak = self.peak.max(self.capacity() + replaced);
    }
}
