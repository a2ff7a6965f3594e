//! The allocator of the brotli decoder, which counts what it allocates and refuses what goes over
//! the bound.

use std::hint::black_box;

use brotli_decompressor::{Allocator, SliceWrapper, SliceWrapperMut};

use crate::memory::{Memory, Share};

pub(super) struct Counting(Memory);

impl Counting {
    pub(super) fn new(memory: &Memory) -> Self {
        Self(memory.clone())
    }
}

impl<T: Clone + Default> Allocator<T> for Counting {
    type AllocatedMemory = Cell<T>;

    /// Allocates this many elements, or an empty cell, which is an error to the decoder.
    fn alloc_cell(&mut self, len: usize) -> Cell<T> {
        let Some(share) = self.0.claim(len as u64 * size_of::<T>() as u64) else {
            return Cell::default();
        };
        // `vec!` gets zeroed pages without writing to them, but aborts if memory is refused. The
        // trial makes that unlikely. Without `black_box`, the compiler removes the unused vector.
        let mut trial = Vec::<T>::new();
        if trial.try_reserve_exact(len).is_err() {
            return Cell::default();
        }
        drop(black_box(trial));
        Cell { elements: vec![T::default(); len], _share: Some(share) }
    }

    fn free_cell(&mut self, _: Cell<T>) {}
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
