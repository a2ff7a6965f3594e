//! The bytes of a body that have arrived, and the memory they are in.
//!
//! Carries out what `reserve.rs` decides. Every reservation is fallible, and nothing
//! here knows a body, a limit or a declared length.

use bytes::{Buf, Bytes};

use crate::block::Block;
use crate::budget::Share;
use crate::pool::BufferPool;
use crate::reserve::{Size, Step, is_slack};

/// Content on its way to being one contiguous buffer.
#[derive(Default)]
pub(crate) struct Content {
    /// The first frame while it may still be the whole body: handed over as it is,
    /// or copied as soon as there is a block to copy it to.
    held: Bytes,
    /// Blocks that are filled to the brim, oldest first. Only bodies of unknown or
    /// wrongly declared length have any.
    full: Vec<Block>,
    /// The block that is being filled.
    tail: Block,
    /// Bytes at the start of the first block that are not content but were in the
    /// caller's buffer before.
    base: usize,
    /// Bytes in `full`, without `base`.
    in_full: usize,
    /// Where memory comes from, and goes back to.
    pool: Option<BufferPool>,
    reservations: u32,
    peak: usize,
}

/// No memory for this many bytes.
#[derive(Debug)]
pub(crate) struct OutOfMemory(pub(crate) usize);

impl Content {
    /// Content in memory from `pool`, or else from the allocator.
    pub(crate) fn new(pool: Option<BufferPool>) -> Self {
        Self { pool, ..Self::default() }
    }

    /// Content that is put behind what is in `buffer`.
    pub(crate) fn behind(buffer: Vec<u8>) -> Self {
        Self { base: buffer.len(), ..Self::from_vec(buffer) }
    }

    /// Content that has arrived already.
    pub(crate) fn from_vec(content: Vec<u8>) -> Self {
        Self { tail: Block::from_vec(content), ..Self::default() }
    }

    /// Bytes of content that have arrived.
    pub(crate) fn len(&self) -> usize {
        self.held.len() + self.in_full + self.tail.len() - self.base_of_tail()
    }

    /// Bytes of memory that content is in or can be put in without a reservation.
    pub(crate) fn capacity(&self) -> usize {
        self.in_full + self.tail.capacity() - self.base_of_tail()
    }

    /// Whether more can be put in without a reservation.
    pub(crate) fn has_room(&self) -> bool {
        self.tail.len() < self.tail.capacity()
    }

    /// How often memory was reserved.
    pub(crate) fn reservations(&self) -> u32 {
        self.reservations
    }

    /// Most bytes of memory held at one time, both blocks of a reallocation counted.
    pub(crate) fn peak(&self) -> usize {
        self.peak
    }

    /// Whether there are several blocks, which [`join`](Self::join) makes one of.
    pub(crate) fn is_in_blocks(&self) -> bool {
        !self.full.is_empty()
    }

    /// How much of a budget a block of this size takes: the most it can have.
    pub(crate) fn share_of(&self, size: Size) -> usize {
        if self.pool.is_some() { size.class } else { size.exact }
    }

    /// Keeps the first frame as it is.
    pub(crate) fn hold(&mut self, frame: Bytes) {
        debug_assert_eq!(self.len(), 0);
        self.held = frame;
    }

    /// Makes room. `share` is that of the block that `step` asks for.
    pub(crate) fn reserve(&mut self, step: Step, share: Option<Share>) -> Result<(), OutOfMemory> {
        match step {
            Step::Grow(size) => {
                debug_assert!(self.full.is_empty());
                let before = self.tail.capacity();
                replace(&mut self.tail, self.base, size, self.pool.as_ref(), share)?;
                self.note_reservation(before - self.base);
            }
            Step::Append(size) => {
                debug_assert_eq!(self.tail.len(), self.tail.capacity());
                let failed = |_| OutOfMemory(size.exact);
                let block = Block::new(size, self.pool.as_ref(), share).map_err(failed)?;
                self.full.try_reserve(1).map_err(failed)?;
                self.in_full += self.tail.len() - self.base_of_tail();
                self.full.push(std::mem::replace(&mut self.tail, block));
                self.note_reservation(0);
            }
        }
        let held = std::mem::take(&mut self.held);
        let copied = self.tail.fill(&held);
        debug_assert_eq!(copied, held.len());
        Ok(())
    }

    /// Copies as much of `data` as there is room for.
    pub(crate) fn fill(&mut self, data: &mut impl Buf) {
        loop {
            let count = self.tail.fill(data.chunk());
            if count == 0 {
                return;
            }
            data.advance(count);
        }
    }

    /// Joins several blocks into one. `share` is that of the whole.
    ///
    /// # Errors
    ///
    /// Where there is no memory for it; the content is left as it was.
    pub(crate) fn join(&mut self, size: Size, share: Option<Share>) -> Result<(), OutOfMemory> {
        // The first block takes in the others: it can be the caller's buffer, which
        // has to come back with what was in it.
        let Some(first) = self.full.first_mut() else {
            return Ok(());
        };
        replace(first, self.base, size, self.pool.as_ref(), share)?;
        let whole = first.capacity() - self.base;
        let mut blocks = std::mem::take(&mut self.full).into_iter();
        let mut joined = blocks.next().unwrap_or_default();
        self.reservations += 1;
        self.peak = self.peak.max(self.in_full + self.tail.capacity() + whole);
        for block in blocks {
            joined.fill(block.as_ref());
        }
        joined.fill(self.tail.as_ref());
        self.tail = joined;
        self.in_full = 0;
        Ok(())
    }

    /// Whether the buffer has more slack than a result keeps.
    pub(crate) fn has_slack(&self) -> bool {
        self.held.is_empty() && is_slack(self.tail.len(), self.tail.capacity())
    }

    /// Copies the content to a buffer of its length. `share` is that of the copy.
    pub(crate) fn trim(&mut self, share: Option<Share>) {
        // `shrink_to` aborts where the allocator cannot do it. A copy can fail, and a
        // failure costs nothing but the slack.
        let size = Size { exact: self.tail.len(), class: self.tail.len() };
        // Its length is anybody's, so it is of no use to a pool.
        if let Ok(mut exact) = Block::new(size, None, share) {
            exact.fill(self.tail.as_ref());
            let replaced = std::mem::replace(&mut self.tail, exact);
            self.note_reservation(replaced.capacity());
        }
    }

    /// The content in a buffer of its own, once it is [joined](Self::join).
    pub(crate) fn into_vec(self) -> Vec<u8> {
        debug_assert!(self.full.is_empty() && self.held.is_empty());
        self.tail.into_vec()
    }

    /// The content in order. The base is not skipped, because a caller's buffer is never asked.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let blocks = self.full.iter().chain([&self.tail]).map(AsRef::as_ref);
        [&*self.held].into_iter().chain(blocks).filter(|chunk| !chunk.is_empty())
    }

    /// The content, once it is [joined](Self::join); it can be the first frame as it came.
    pub(crate) fn into_bytes(self) -> Bytes {
        debug_assert!(self.full.is_empty());
        if self.held.is_empty() { self.tail.into_bytes() } else { self.held }
    }

    /// The block that the content is in, with all its capacity and with what the caller
    /// had in it. Where there is no memory to join several, it is the first of them.
    pub(crate) fn into_joined(mut self) -> Vec<u8> {
        match self.join_outside_budget() {
            Ok(()) => self.tail.into_vec(),
            Err(OutOfMemory(_)) => self.full.swap_remove(0).into_vec(),
        }
    }

    /// Joins without a share: what is read in part is no longer in flight.
    fn join_outside_budget(&mut self) -> Result<(), OutOfMemory> {
        let len = self.len();
        self.join(Size { exact: len, class: len }, None)
    }

    /// The content of a body that was not read to its end, in one buffer of its length. Where
    /// there is no memory to join several blocks, it is the first of them.
    pub(crate) fn into_partial_bytes(mut self) -> Bytes {
        match self.join_outside_budget() {
            Ok(()) => {
                if self.has_slack() {
                    self.trim(None);
                }
                self.into_bytes()
            }
            Err(OutOfMemory(_)) => self.full.swap_remove(0).into_bytes(),
        }
    }

    fn base_of_tail(&self) -> usize {
        if self.full.is_empty() { self.base } else { 0 }
    }

    /// `replaced` is memory that was alive beside what is held now.
    fn note_reservation(&mut self, replaced: usize) {
        self.reservations += 1;
        self.peak = self.peak.max(self.capacity() + replaced);
    }
}

/// Gives `block` a capacity of `size` behind its first `base` bytes, and keeps what is in it.
fn replace(
    block: &mut Block,
    base: usize,
    size: Size,
    pool: Option<&BufferPool>,
    share: Option<Share>,
) -> Result<(), OutOfMemory> {
    let failed = |_| OutOfMemory(size.exact);
    if pool.is_none() && !block.is_pooled() {
        // The allocator may have room behind it, or move pages instead of bytes.
        return block.grow(base.saturating_add(size.exact), share).map_err(failed);
    }
    let mut larger = Block::new(size, pool, share).map_err(failed)?;
    larger.fill(block.as_ref());
    *block = larger;
    Ok(())
}
