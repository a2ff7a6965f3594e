//! Memory that goes from one body to the next without going through the allocator.

use std::collections::{BTreeMap, TryReserveError, VecDeque};
use std::fmt;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use crate::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Buffers that are used again for the next body.
///
/// An allocator gives megabytes back to the kernel when a body is dropped, and the next
/// body faults them in again, page by page: about 1,500 faults for 6 MiB, which is more
/// work than the copying. A pool keeps them. Clones share one pool.
///
/// The buffer of a [`Bytes`](bytes::Bytes) returns when its last clone is dropped, on
/// whatever thread; that of an unfinished body when reading it is cancelled or panics, and
/// with the error when it fails. A `Vec` or a `String` is the caller's to keep, so those forms take nothing
/// from the pool.
///
/// # What it keeps
///
/// At most the given number of idle bytes; where one buffer more would pass it, those go
/// that have been idle longest. One that has been idle for the maximum age goes the next
/// time anything is taken or returned, so that an outlier does not stay, and nothing runs
/// in the background for it. [`trim`](Self::trim) lets go of all.
///
/// Sizes are an eighth of a power of two apart. A body is only given a buffer between its
/// length and that length rounded up to a size, and never one that it has not earned, so
/// one that is there already holds no more than a new one would. Buffers under 16 KiB are
/// left to the allocator.
///
/// The bytes of an earlier body are not overwritten before others take their place. They
/// cannot be seen: a buffer comes back empty, and safe Rust reads nothing beyond its length.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use presized::{BufferPool, Collect};
///
/// let pool = BufferPool::new(64 << 20);
/// for _ in 0..2 {
///     # let body = http_body_util::StreamBody::new(futures_util::stream::iter(
///     #     [vec![0; 1 << 20], vec![0; 5 << 20]].map(|data| {
///     #         Ok::<_, std::convert::Infallible>(http_body::Frame::data(bytes::Bytes::from(data)))
///     #     }),
///     # ));
///     let content = Collect::new(body, Reader::new(64 << 20).pool(&pool)).content_length(Some(6 << 20)).bytes().await?;
///     assert_eq!(content.len(), 6 << 20);
/// }
/// assert_eq!((pool.stats().misses, pool.stats().hits), (1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct BufferPool {
    shared: Arc<Shared>,
}

/// What a [`BufferPool`] has done, and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Buffers that were taken from the pool.
    pub hits: u64,
    /// Buffers that had to be allocated.
    pub misses: u64,
    /// Buffers in the pool.
    pub idle: u64,
    /// Bytes in those.
    pub idle_bytes: u64,
    /// Buffers that are with a body or its content, and will return.
    pub outstanding: u64,
    /// Bytes in those.
    pub outstanding_bytes: u64,
}

struct Shared {
    max_idle_bytes: u64,
    max_age: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By capacity; within one, the longest idle first, with their numbers.
    idle: BTreeMap<usize, VecDeque<(u64, Vec<u8>)>>,
    /// By number, which is the order in which they came: since when, and the capacity.
    ages: BTreeMap<u64, (Instant, usize)>,
    next: u64,
    stats: PoolStats,
}

impl BufferPool {
    /// A pool that keeps at most `max_idle_bytes` bytes that are not in use, each for a
    /// minute at most. 0 keeps nothing.
    pub fn new(max_idle_bytes: u64) -> Self {
        Self::with_max_age(max_idle_bytes, MAX_AGE_DEFAULT)
    }

    /// The same with another maximum age for idle buffers.
    pub fn with_max_age(max_idle_bytes: u64, max_age: Duration) -> Self {
        let shared = Shared { max_idle_bytes, max_age, state: Mutex::new(State::default()) };
        Self { shared: Arc::new(shared) }
    }

    /// Lets go of all idle buffers.
    pub fn trim(&self) {
        let mut state = self.lock();
        state.stats.idle = 0;
        state.stats.idle_bytes = 0;
        state.ages.clear();
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        drop(idle);
    }

    /// What the pool has done, and what it holds.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        self.lock().stats
    }

    /// An empty buffer with a capacity in this range, the end of it if it is a new one.
    pub(crate) fn take(&self, capacity: RangeInclusive<usize>) -> Result<Vec<u8>, TryReserveError> {
        let most = *capacity.end();
        let now = Instant::now();
        let mut state = self.lock();
        let expired = state.expire(now, self.shared.max_age);
        let found = state.take_idle(capacity);
        let found = match found {
            Some(buffer) => {
                state.stats.hits += 1;
                state.lend(buffer.capacity());
                drop(state);
                Ok(buffer)
            }
            None => {
                state.stats.misses += 1;
                drop(state);
                let mut buffer = Vec::new();
                buffer.try_reserve_exact(most).map(|()| {
                    self.lock().lend(buffer.capacity());
                    buffer
                })
            }
        };
        drop(expired);
        found
    }

    /// Takes a buffer back.
    pub(crate) fn put(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        let now = Instant::now();
        let mut state = self.lock();
        state.stats.outstanding -= 1;
        state.stats.outstanding_bytes -= buffer.capacity() as u64;
        let mut gone = state.expire(now, self.shared.max_age);
        match self.shared.max_idle_bytes.checked_sub(buffer.capacity() as u64) {
            None => gone.push(buffer),
            Some(room) => {
                while state.stats.idle_bytes > room {
                    gone.extend(state.take_longest_idle());
                }
                state.keep(buffer, now);
            }
        }
        drop(state);
        // Unmapping megabytes takes longer than anybody should wait for the lock.
        drop(gone);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for BufferPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferPool")
            .field("max_idle_bytes", &self.shared.max_idle_bytes)
            .field("max_age", &self.shared.max_age)
            .field("stats", &self.stats())
            .finish()
    }
}

impl State {
    fn keep(&mut self, buffer: Vec<u8>, now: Instant) {
        let (number, capacity) = (self.next, buffer.capacity());
        self.next += 1;
        self.stats.idle += 1;
        self.stats.idle_bytes += capacity as u64;
        self.ages.insert(number, (now, capacity));
        self.idle.entry(capacity).or_default().push_back((number, buffer));
    }

    /// The most recently used of the smallest that fit.
    fn take_idle(&mut self, capacity: RangeInclusive<usize>) -> Option<Vec<u8>> {
        let (&capacity, buffers) = self.idle.range_mut(capacity).next()?;
        let (number, buffer) = buffers.pop_back()?;
        self.ages.remove(&number);
        self.taken(capacity);
        Some(buffer)
    }

    fn take_longest_idle(&mut self) -> Option<Vec<u8>> {
        let (_, (_, capacity)) = self.ages.pop_first()?;
        // The oldest of all is the oldest of its capacity.
        let (_, buffer) = self.idle.get_mut(&capacity)?.pop_front()?;
        self.taken(capacity);
        Some(buffer)
    }

    fn taken(&mut self, capacity: usize) {
        if self.idle.get(&capacity).is_some_and(VecDeque::is_empty) {
            self.idle.remove(&capacity);
        }
        self.stats.idle -= 1;
        self.stats.idle_bytes -= capacity as u64;
    }

    fn lend(&mut self, capacity: usize) {
        self.stats.outstanding += 1;
        self.stats.outstanding_bytes += capacity as u64;
    }

    /// Takes out what has been idle for too long, to be freed without the lock.
    fn expire(&mut self, now: Instant, max_age: Duration) -> Vec<Vec<u8>> {
        let mut expired = Vec::new();
        let is_old = |since: Instant| now.saturating_duration_since(since) >= max_age;
        while self.ages.first_key_value().is_some_and(|(_, &(since, _))| is_old(since)) {
            expired.extend(self.take_longest_idle());
        }
        expired
    }
}

/// Buffers under this size are cheap to allocate, and the allocator keeps them.
pub(crate) const POOLED_FROM: usize = 16 << 10;

const MAX_AGE_DEFAULT: Duration = Duration::from_secs(60);
