//! A global allocator that counts, for the threads that ask for it.
//!
//! A server in the same process is on a thread of its own and does not count. A
//! reallocation counts as what it can be: a new block that lives beside the old one.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// To be set as the `#[global_allocator]` of the binary that counts.
#[derive(Debug)]
pub struct Ledger;

/// What was allocated between two points, by the counting threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Blocks, of any size.
    pub allocations: u64,
    /// Blocks of at least [`Ledger::LARGE`] bytes.
    pub large: u64,
    /// Bytes in all blocks.
    pub bytes: u64,
    /// Most bytes alive at one time, above what was alive at the beginning.
    pub peak: u64,
    /// Bytes alive at the end, above what was alive at the beginning.
    pub kept: i64,
}

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static LARGE: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);
/// Requests from this size on are refused.
static REFUSE_FROM: AtomicUsize = AtomicUsize::new(usize::MAX);

thread_local! {
    static COUNTS: Cell<bool> = const { Cell::new(false) };
}

impl Ledger {
    /// A block of this many bytes counts as large: the smallest that a body of a page has.
    pub const LARGE: usize = 4096;

    /// There is one ledger in a process, so one test counts at a time: while it has this.
    pub fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        // A test that failed has left nothing behind that the next one minds.
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes this thread count, or stop counting.
    pub fn count_this_thread(counts: bool) {
        COUNTS.set(counts);
    }

    /// Bytes alive now.
    pub fn live() -> u64 {
        LIVE.load(Relaxed)
    }

    /// Lets allocations of this size and above fail, on counting threads.
    pub fn refuse_from(bytes: usize) {
        REFUSE_FROM.store(bytes, Relaxed);
    }

    /// Runs `work` on this thread and tells what it spent. Other threads that count at
    /// the same time are counted with it.
    pub fn measure<T>(work: impl FnOnce() -> T) -> (T, Spent) {
        let before = COUNTS.replace(true);
        let start = Mark::now();
        let value = work();
        let spent = start.spent();
        COUNTS.set(before);
        (value, spent)
    }
}

/// A point to count from.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    allocations: u64,
    large: u64,
    bytes: u64,
    live: u64,
}

impl Mark {
    /// Begins to count. There is one peak: a later mark ends the count of an earlier one.
    pub fn now() -> Self {
        let live = LIVE.load(Relaxed);
        PEAK.store(live, Relaxed);
        Self {
            allocations: ALLOCATIONS.load(Relaxed),
            large: LARGE.load(Relaxed),
            bytes: BYTES.load(Relaxed),
            live,
        }
    }

    /// What was spent since.
    pub fn spent(&self) -> Spent {
        Spent {
            allocations: ALLOCATIONS.load(Relaxed) - self.allocations,
            large: LARGE.load(Relaxed) - self.large,
            bytes: BYTES.load(Relaxed) - self.bytes,
            peak: PEAK.load(Relaxed).saturating_sub(self.live),
            kept: LIVE.load(Relaxed).cast_signed() - self.live.cast_signed(),
        }
    }
}

fn allocated(size: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    if size >= Ledger::LARGE {
        LARGE.fetch_add(1, Relaxed);
    }
    BYTES.fetch_add(size as u64, Relaxed);
    let live = LIVE.fetch_add(size as u64, Relaxed) + size as u64;
    PEAK.fetch_max(live, Relaxed);
}

fn freed(size: usize) {
    // A block can be older than the counting of its thread.
    let _ = LIVE.fetch_update(Relaxed, Relaxed, |live| Some(live.saturating_sub(size as u64)));
}

fn counts() -> bool {
    COUNTS.try_with(Cell::get).unwrap_or(false)
}

// SAFETY: every call goes on to `System` with the arguments it came with, or returns
// null, which stands for a failed allocation.
unsafe impl GlobalAlloc for Ledger {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if counts() {
            if layout.size() >= REFUSE_FROM.load(Relaxed) {
                return std::ptr::null_mut();
            }
            allocated(layout.size());
        }
        // SAFETY: the caller's contract is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if counts() {
            if layout.size() >= REFUSE_FROM.load(Relaxed) {
                return std::ptr::null_mut();
            }
            allocated(layout.size());
        }
        // SAFETY: the caller's contract is that of `System`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if counts() {
            if size >= REFUSE_FROM.load(Relaxed) {
                return std::ptr::null_mut();
            }
            allocated(size);
            freed(layout.size());
        }
        // SAFETY: the caller's contract is that of `System`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if counts() {
            freed(layout.size());
        }
        // SAFETY: the caller's contract is that of `System`.
        unsafe { System.dealloc(block, layout) }
    }
}
