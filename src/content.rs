//! The bytes of a body that have arrived, and the memory they are in.
//!
//! Carries out what `reserve.rs` decides. Every reservation is fallible, and nothing
//! here knows a body, a limit or a declared length.

use std::collections::TryReserveError;
use std::fmt;

use bytes::{Buf, Bytes};

use crate::reserve::{Step, is_slack};

/// Content on its way to being one contiguous buffer.
#[derive(Default)]
pub(crate) struct Content {
    /// The first frame while it may still be the whole body: handed over as it is,
    /// or copied as soon as there is a block to copy it to.
    held: Bytes,
    /// Blocks that are filled to the brim, oldest first. Only bodies of unknown or
    /// wrongly declared length have any.
    full: Vec<Vec<u8>>,
    /// The block that is being filled.
    tail: Vec<u8>,
    /// Bytes at the start of the first block that are not content but were in the
    /// caller's buffer before.
    base: usize,
    /// Bytes in `full`, without `base`.
    in_full: usize,
    reservations: u32,
    peak: usize,
}

/// No memory for this many bytes.
#[derive(Debug)]
pub(crate) struct OutOfMemory(pub(crate) usize);

impl Content {
    /// Content that is put behind what is in `buffer`.
    pub(crate) fn behind(buffer: Vec<u8>) -> Self {
        Self { base: buffer.len(), tail: buffer, ..Self::default() }
    }

    /// Bytes of content that have arrived.
    pub(crate) fn len(&self) -> usize {
        self.held.len() + self.in_full + self.tail.len() - self.base_of_tail()
    }

    /// Bytes of memory that content is in or can be put in without a reservation.
    pub(crate) fn capacity(&self) -> usize {
        self.in_full + self.tail.capacity() - self.base_of_tail()
    }

    /// How often memory was reserved.
    pub(crate) fn reservations(&self) -> u32 {
        self.reservations
    }

    /// Most bytes of memory held at one time, both blocks of a reallocation counted.
    pub(crate) fn peak(&self) -> usize {
        self.peak
    }

    /// Keeps the first frame as it is.
    pub(crate) fn hold(&mut self, frame: Bytes) {
        debug_assert_eq!(self.len(), 0);
        self.held = frame;
    }

    pub(crate) fn reserve(&mut self, step: Step) -> Result<(), OutOfMemory> {
        match step {
            Step::Grow(capacity) => {
                debug_assert!(self.full.is_empty());
                let len = self.tail.len() - self.base;
                let more = capacity.saturating_sub(len);
                let before = self.tail.capacity();
                self.tail.try_reserve_exact(more).map_err(|_| OutOfMemory(capacity))?;
                if self.tail.capacity() != before {
                    self.note_reservation(before - self.base_of_tail());
                }
            }
            Step::Append(capacity) => {
                debug_assert_eq!(self.tail.len(), self.tail.capacity());
                let block = new_block(capacity).map_err(|_| OutOfMemory(capacity))?;
                self.full.try_reserve(1).map_err(|_| OutOfMemory(capacity))?;
                self.in_full += self.tail.len() - self.base_of_tail();
                self.full.push(std::mem::replace(&mut self.tail, block));
                self.note_reservation(0);
            }
        }
        let held = std::mem::take(&mut self.held);
        debug_assert!(held.len() <= self.tail.capacity() - self.tail.len());
        self.tail.extend_from_slice(&held);
        Ok(())
    }

    /// Copies as much of `data` as there is room for.
    pub(crate) fn fill(&mut self, data: &mut impl Buf) {
        loop {
            let chunk = data.chunk();
            let room = self.tail.capacity() - self.tail.len();
            let count = chunk.len().min(room);
            if count == 0 {
                return;
            }
            self.tail.extend_from_slice(&chunk[..count]);
            data.advance(count);
        }
    }

    /// Joins the blocks, if there are several, into one of exactly their length.
    ///
    /// # Errors
    ///
    /// Where there is no memory for it; the content is left as it was.
    pub(crate) fn make_contiguous(&mut self) -> Result<(), OutOfMemory> {
        // The first block takes in the others: it can be the caller's buffer, which
        // has to come back with what was in it.
        let Some(first) = self.full.first_mut() else {
            return Ok(());
        };
        let len = self.in_full + self.tail.len();
        let more = len - (first.len() - self.base);
        first.try_reserve_exact(more).map_err(|_| OutOfMemory(len))?;
        self.note_reservation(self.base + len);
        let mut blocks = std::mem::take(&mut self.full).into_iter();
        let mut whole = blocks.next().unwrap_or_default();
        for block in blocks {
            whole.extend_from_slice(&block);
        }
        whole.extend_from_slice(&self.tail);
        self.tail = whole;
        self.in_full = 0;
        Ok(())
    }

    /// Gives memory back where there is more slack than `is_slack` lets pass.
    pub(crate) fn trim(&mut self) {
        debug_assert!(self.full.is_empty() && self.base == 0);
        if is_slack(self.tail.len(), self.tail.capacity()) {
            // `shrink_to` aborts where the allocator cannot do it. A copy of our own can
            // fail, and a failure costs nothing but the slack.
            if let Ok(mut exact) = new_block(self.tail.len()) {
                exact.extend_from_slice(&self.tail);
                let replaced = std::mem::replace(&mut self.tail, exact);
                self.note_reservation(replaced.capacity());
            }
        }
    }

    /// The content in one buffer, [trimmed](Self::trim), once it
    /// [is contiguous](Self::make_contiguous).
    pub(crate) fn into_vec(mut self) -> Vec<u8> {
        debug_assert!(self.held.is_empty());
        self.trim();
        self.tail
    }

    /// The same for content that may be the first frame as it came.
    pub(crate) fn into_bytes(mut self) -> Bytes {
        let held = std::mem::take(&mut self.held);
        if held.is_empty() { Bytes::from(self.into_vec()) } else { held }
    }

    /// The block that the content is in, with all its capacity and with what the caller
    /// had in it. Where there is no memory to join several, it is the first of them.
    pub(crate) fn into_joined(mut self) -> Vec<u8> {
        match self.make_contiguous() {
            Ok(()) => self.tail,
            Err(OutOfMemory(_)) => self.full.swap_remove(0),
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

/// What had arrived of a body when reading it failed.
///
/// `Debug` shows how many bytes there are and never the bytes.
#[derive(Default)]
pub struct Partial(
    // Boxed to keep the error, which every caller's `Result` has room for, small.
    Option<Box<Content>>,
);

impl Partial {
    pub(crate) fn new(content: Content) -> Self {
        Self((content.len() > 0).then(|| Box::new(content)))
    }

    pub(crate) fn from_vec(content: Vec<u8>) -> Self {
        Self::new(Content { tail: content, ..Content::default() })
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |content| content.len())
    }

    /// Whether nothing had arrived.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, in one buffer of their length.
    ///
    /// A body of unknown length is in several blocks until here. Where there is no
    /// memory to join them, the first block is returned.
    pub fn into_bytes(self) -> Bytes {
        let Some(mut content) = self.0 else {
            return Bytes::new();
        };
        match content.make_contiguous() {
            Ok(()) => content.into_bytes(),
            Err(OutOfMemory(_)) => Bytes::from(content.into_joined()),
        }
    }
}

impl fmt::Debug for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Partial({} bytes)", self.len())
    }
}

fn new_block(capacity: usize) -> Result<Vec<u8>, TryReserveError> {
    let mut block = Vec::new();
    block.try_reserve_exact(capacity)?;
    Ok(block)
}
