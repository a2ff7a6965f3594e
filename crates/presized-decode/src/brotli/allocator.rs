//! The allocator of the brotli decoder, which counts what it allocates and refuses what goes over
//! the bound.

use std::collections::TryReserveError;

use brotli_decompressor::{Allocator, HuffmanCode, SliceWrapper, SliceWrapperMut};
use bytemuck::allocation::try_zeroed_vec;

use crate::memory::{Memory, Share};

pub(super) struct Counting(Memory);

impl Counting {
    pub(super) fn new(memory: &Memory) -> Self {
        Self(memory.clone())
    }

    /// Counts these elements and allocates them with `zeroed`. Returns an empty cell, which is an
    /// error to the decoder, if there is no memory for them.
    fn cell<T, E>(&self, len: usize, zeroed: impl FnOnce(usize) -> Result<Vec<T>, E>) -> Cell<T> {
        let Some(share) = self.0.claim(len as u64 * size_of::<T>() as u64) else {
            return Cell::default();
        };
        let Ok(elements) = zeroed(len) else {
            self.0.exhaust();
            return Cell::default();
        };
        Cell { elements, _share: Some(share) }
    }
}

/// The window. Most bodies are shorter than it, so its pages must not be written before they are
/// used.
impl Allocator<u8> for Counting {
    type AllocatedMemory = Cell<u8>;

    fn alloc_cell(&mut self, len: usize) -> Cell<u8> {
        self.cell(len, try_zeroed_vec)
    }

    fn free_cell(&mut self, _: Cell<u8>) {}
}

impl Allocator<u32> for Counting {
    type AllocatedMemory = Cell<u32>;

    fn alloc_cell(&mut self, len: usize) -> Cell<u32> {
        self.cell(len, try_zeroed_vec)
    }

    fn free_cell(&mut self, _: Cell<u32>) {}
}

impl Allocator<HuffmanCode> for Counting {
    type AllocatedMemory = Cell<HuffmanCode>;

    fn alloc_cell(&mut self, len: usize) -> Cell<HuffmanCode> {
        self.cell(len, try_default_vec)
    }

    fn free_cell(&mut self, _: Cell<HuffmanCode>) {}
}

/// Allocates the tables. Their type is not known to bytemuck, so each element is written.
fn try_default_vec<T: Clone + Default>(len: usize) -> Result<Vec<T>, TryReserveError> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(len)?;
    elements.resize(len, T::default());
    Ok(elements)
}

/// Allocated elements. They are no longer counted when this is dropped.
pub(super) struct Cell<T> {
    elements: Vec<T>,
    _share: Option<Share>,
}

impl<T> Default for Cell<T> {
    fn default() -> Self {
        Self { elements: Vec::new(), _share: None }
    }
}

impl<T> SliceWrapper<T> for Cell<T> {
    fn slice(&self) -> &[T] {
        &self.elements
    }
}

impl<T> SliceWrapperMut<T> for Cell<T> {
    fn slice_mut(&mut self) -> &mut [T] {
        &mut self.elements
    }
}
