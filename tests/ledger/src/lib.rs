//! A global allocator that counts the allocations of the threads that ask for it.
//!
//! A server in the same process runs on a thread of its own and is not counted. A reallocation
//! counts as a new block that lives beside the old one, because it can be one.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The allocator. The binary that counts sets it as its `#[global_allocator]`.
#[derive(Debug)]
pub struct Ledger;

/// The allocations of the counting threads between two points in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Number of blocks of any size.
    pub allocations: u64,
    /// Number of blocks of at least [`Ledger::LARGE`] bytes.
    pub large: u64,
    /// Number of bytes in all blocks.
    pub bytes: u64,
    /// Most bytes allocated at one time, above those at the beginning.
    pub peak: u64,
    /// Bytes allocated at the end, minus those at the beginning.
    pub kept: i64,
}

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static LARGE: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);
/// Requests of at least this size are refused.
static REFUSE_FROM: AtomicUsize = AtomicUsize::new(usize::MAX);

thread_local! {
    static COUNTS: Cell<bool> = const { Cell::new(false) };
}

impl Ledger {
    /// The smallest block that counts as large, in bytes: the buffer of a body of one page.
    pub const LARGE: usize = 4096;

    /// Waits until no other test counts: a process has one ledger. The caller counts alone until it
    /// drops the guard.
    pub fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        // A failed test leaves nothing behind that affects the next one.
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts or stops counting the allocations of this thread.
    pub fn count_this_thread(counts: bool) {
        COUNTS.set(counts);
    }

    /// Returns the number of bytes that are allocated now.
    pub fn live() -> u64 {
        LIVE.load(Relaxed)
    }

    /// Refuses allocations of at least `bytes` bytes on counting threads.
    pub fn refuse_from(bytes: usize) {
        REFUSE_FROM.store(bytes, Relaxed);
    }

    /// Runs `work` on this thread and returns what it allocated. Other threads that count at the same
    /// time are included.
    pub fn measure<T>(work: impl FnOnce() -> T) -> (T, Spent) {
        let before = COUNTS.replace(true);
        let start = Mark::now();
        let value = work();
        let spent = start.spent();
        COUNTS.set(before);
        (value, spent)
    }
}

/// A point in time to count from.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    allocations: u64,
    large: u64,
    bytes: u64,
    live: u64,
}

impl Mark {
    /// Begins to count. A later mark resets the peak of an earlier one.
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

    /// Returns what was allocated since this point.
    pub fn spent(&self) -> Spent {
        Spent {
            allocations: ALLOCATIONS.load(Relaxed) - self.allocations,
            large: LARGE.load(Relaxed) - self.large,
            bytes: BYTES.load(Relaxed) - self.bytes,
            peak: PEAK.load(Relaxed).saturating_sub(self.live),
            kept: LIVE.load(Relaxed) as i64 - self.live as i64,
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
    // The block can be older than the first count of its thread.
    let _ = LIVE.fetch_update(Relaxed, Relaxed, |live| Some(live.saturating_sub(size as u64)));
}

fn counts() -> bool {
    COUNTS.try_with(Cell::get).unwrap_or(false)
}

// SAFETY: every call passes its arguments to `System`, or returns null, which means that the
// allocation failed.
unsafe impl GlobalAlloc for Ledger {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if counts() {
            if layout.size() >= REFUSE_FROM.load(Relaxed) {
                return std::ptr::null_mut();
            }
            allocated(layout.size());
        }
        // SAFETY: the caller keeps the contract of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if counts() {
            if layout.size() >= REFUSE_FROM.load(Relaxed) {
                return std::ptr::null_mut();
            }
            allocated(layout.size());
        }
        // SAFETY: the caller keeps the contract of `System`.
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
        // SAFETY: the caller keeps the contract of `System`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if counts() {
            freed(layout.size());
        }
        // SAFETY: the caller keeps the contract of `System`.
        unsafe { System.dealloc(block, layout) }
    }
}
