//! The buffer pool: memory that goes from one body to the next without the allocator.

use std::collections::{BTreeMap, TryReserveError, VecDeque};
use std::fmt;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use crate::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A pool of buffers that are used again for the next body.
///
/// When a large buffer is freed, the allocator can return its pages to the kernel. The next body
/// then takes page faults to get them back: about 1,500 for 6 MiB. They cost more than copying the
/// content. A pool keeps the buffers. Clones share one pool.
///
/// The buffer of a [`Bytes`](bytes::Bytes) returns when its last clone is dropped, on any thread.
/// The buffer of an unfinished body returns when the read is cancelled or panics. If the read
/// fails, the error holds the buffer until it is dropped. The forms that give a `Vec` or a `String`
/// do not use the pool.
///
/// # What it keeps
///
/// - At most the given number of idle bytes. The buffers that were idle longest are freed to make
///   room.
/// - No buffer that was idle longer than the maximum age, as soon as it is found. Nothing runs in
///   the background: each time a buffer is taken or returned, at most two old ones are freed. So no
///   caller pays for all of them. [`trim`](Self::trim) frees all.
/// - No buffers under 16 KiB, which the allocator keeps itself.
///
/// Capacities are rounded up in steps of an eighth of the power of two below: from 1 MiB to 2 MiB,
/// the step is 128 KiB. A body that needs `n` bytes gets a buffer of at least `n` and at most this
/// rounded capacity. The limit and the bound of [`Reader::eager`](crate::Reader::eager) hold for
/// pooled buffers too.
///
/// Earlier content is not overwritten, and it cannot be seen: a buffer comes back empty, and safe
/// Rust reads nothing beyond its length.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use presized::{BufferPool, Reader};
///
/// let pool = BufferPool::new(64 << 20);
/// let reader = Reader::new(64 << 20).pool(&pool);
/// for _ in 0..2 {
///     # let body = http_body_util::StreamBody::new(futures_util::stream::iter(
///     #     [vec![0; 1 << 20], vec![0; 5 << 20]].map(|data| {
///     #         Ok::<_, std::convert::Infallible>(http_body::Frame::data(bytes::Bytes::from(data)))
///     #     }),
///     # ));
///     let content = reader.collect(body).content_length(6 << 20).await?;
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

/// The counters of a [`BufferPool`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Buffers that were taken from the pool.
    pub hits: u64,
    /// Buffers that were allocated.
    pub misses: u64,
    /// Buffers in the pool now.
    pub idle: u64,
    /// Bytes in the idle buffers.
    pub idle_bytes: u64,
    /// Buffers that a body or its content holds, and that will return.
    pub outstanding: u64,
    /// Bytes in the outstanding buffers.
    pub outstanding_bytes: u64,
}

struct Shared {
    max_idle_bytes: u64,
    max_age: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By capacity. Of one capacity, the longest idle comes first. Each has its number.
    idle: BTreeMap<usize, VecDeque<(u64, Vec<u8>)>>,
    /// By number, in the order of return: the time of return, and the capacity.
    ages: BTreeMap<u64, (Instant, usize)>,
    next: u64,
    stats: PoolStats,
}

impl BufferPool {
    /// Creates a pool that keeps at most `max_idle_bytes` bytes of idle buffers, each for at most
    /// 60 seconds. 0 keeps nothing.
    pub fn new(max_idle_bytes: u64) -> Self {
        Self::with_max_age(max_idle_bytes, MAX_AGE_DEFAULT)
    }

    /// Creates a pool with another maximum age of idle buffers.
    pub fn with_max_age(max_idle_bytes: u64, max_age: Duration) -> Self {
        let shared = Shared { max_idle_bytes, max_age, state: Mutex::new(State::default()) };
        Self { shared: Arc::new(shared) }
    }

    /// Frees all idle buffers.
    pub fn trim(&self) {
        let mut state = self.lock();
        state.stats.idle = 0;
        state.stats.idle_bytes = 0;
        state.ages.clear();
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        drop(idle);
    }

    /// Returns the counters.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        self.lock().stats
    }

    /// Returns an empty buffer with a capacity in this range. A new buffer has the largest.
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
        // Unmapping megabytes takes long, so it happens without the lock.
        drop(gone);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
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

    /// Takes the most recently used of the smallest buffers that fit.
    fn take_idle(&mut self, capacity: RangeInclusive<usize>) -> Option<Vec<u8>> {
        let (&capacity, buffers) = self.idle.range_mut(capacity).next()?;
        let (number, buffer) = buffers.pop_back()?;
        self.ages.remove(&number);
        self.taken(capacity);
        Some(buffer)
    }

    fn take_longest_idle(&mut self) -> Option<Vec<u8>> {
        let (_, (_, capacity)) = self.ages.pop_first()?;
        // The oldest buffer of all is the oldest of its capacity.
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

    /// Takes out a few buffers that are too old. The caller frees them without the lock.
    fn expire(&mut self, now: Instant, max_age: Duration) -> Vec<Vec<u8>> {
        let is_old = |since: Instant| now.saturating_duration_since(since) >= max_age;
        let mut expired = Vec::new();
        while expired.len() < EXPIRED_AT_ONCE
            && self.ages.first_key_value().is_some_and(|(_, &(since, _))| is_old(since))
        {
            expired.extend(self.take_longest_idle());
        }
        expired
    }
}

/// The smallest pooled buffer, in bytes. The allocator keeps smaller ones itself.
pub(crate) const POOLED_FROM: usize = 16 << 10;

/// Old buffers that one call frees. More than one, so that they become fewer while new ones return.
const EXPIRED_AT_ONCE: usize = 2;

const MAX_AGE_DEFAULT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_use_frees_at_most_two_buffers_that_have_aged() {
        let (start, age) = (Instant::now(), Duration::from_secs(60));
        let mut state = State::default();
        for at in 0..5 {
            state.keep(Vec::with_capacity(POOLED_FROM), start + Duration::from_secs(at));
        }
        let mut expired = |seconds| state.expire(start + Duration::from_secs(seconds), age).len();
        assert_eq!([59, 60, 70, 70, 70].map(&mut expired), [0, 1, 2, 2, 0]);
        assert_eq!((state.stats, state.idle.len()), (PoolStats::default(), 0));
    }
}
