//! The memory budget: one bound on the memory of many bodies.
//!
//! Grants shares, in bytes, and takes them back. `bank.rs` decides which request is granted.

use std::fmt;
use std::task::{Context, Poll, Waker};

use crate::bank::{Bank, Exhausted, Request};
use crate::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A bound in bytes on the memory of all bodies that are read under it.
///
/// A body of known length takes its share before its memory is reserved. A body of unknown length
/// takes more shares as it grows. If the budget has no room, the body waits for others to finish,
/// or fails under a [`fail_fast`](Self::fail_fast) handle. Clones share one bound.
///
/// # What counts
///
/// The content of a finished body counts until its last [`Bytes`](bytes::Bytes) is dropped. A
/// `Vec`, a `String` and a buffer of the caller leave the budget when they are returned. The partial
/// content of an error counts until the error is dropped, or the bytes that
/// [`CollectError::into_partial`](crate::CollectError::into_partial) returns.
///
/// These do not count:
///
/// - the read buffer of a connection;
/// - a large frame that is handed over without a copy;
/// - the frame that a waiting body has received but not stored;
/// - the spare capacity of a caller's buffer;
/// - idle buffers of a pool;
/// - the old buffer, while `into_partial` copies the content to a smaller one.
///
/// # Order
///
/// 1. Bodies that hold memory and need more are served first. Those with a smaller claim come
///    before those with a larger one. Bodies with the same claim are served in the order of their
///    first requests.
/// 2. Bodies that hold nothing follow, in the order of their requests.
///
/// A body can wait for free bytes, or because a deadlock would be possible. In the second case,
/// bodies that need only one share pass it. The last share of a body that holds memory is granted
/// at once if its bytes are free.
///
/// A request searches sorted trees, and looks at each different claim. Otherwise its cost does not
/// depend on how many bodies are open, wait or are cancelled.
///
/// # No deadlock
///
/// A body that can need more after its first share has a claim: the most memory that it can need.
///
/// | body | claim |
/// | --- | --- |
/// | declared length within the eager bound | none, because it needs one share |
/// | declared length above the eager bound | twice its length, for the old and the new buffer |
/// | unknown length | twice its limit, for the old and the new buffer |
///
/// A claim is rounded up by at most an eighth, and is the whole budget at most. A body grows from
/// its first share to its last. A growing body gets a share only if this stays true for each claim
/// `c` of a growing body:
///
/// > Together, the growing bodies with a claim of `c` or more hold at most the budget less `c`. The
/// > oldest body with claim `c` is not counted.
///
/// So all growing bodies can finish one after the other. Their order is from the smallest claim to
/// the largest, and for each claim from the oldest body to the youngest. At the turn of a body, the
/// bodies before it have returned their bytes. The growing bodies after it hold at most the budget
/// less its claim. So its whole claim fits, once the contents of finished bodies are dropped.
/// Bodies that do not grow hold all that they need, or wait without holding anything.
///
/// A body can be longer than declared and need more than its claim. Then it does not wait: it gets
/// the bytes if they are free now, and fails if they are not.
///
/// A body that needs only one share waits for bytes that are in use, or behind bodies that do. It
/// never waits for bytes that are kept free for a claim. A slow growing body keeps its claim free
/// from growing bodies with the same claim or a larger one, and new ones queue behind those. Keep
/// limits small compared to the budget, or one slow body keeps others waiting.
///
/// Progress has three conditions:
///
/// - Senders continue to send, or a timeout ends their bodies, such as a
///   [`MinRate`](crate::MinRate).
/// - Contents are dropped. A task deadlocks if it holds the whole budget while it waits for another
///   body.
/// - Over HTTP/2, the flow-control window of a connection is larger than the sum of the windows of
///   its streams. Otherwise bodies that wait fill it, and the other streams cannot send.
///
/// # Errors
///
/// A read fails with [`CollectError::Budget`](crate::CollectError::Budget):
///
/// - before the body is polled, if the limit is above the budget, or if the length is exact, above
///   the eager bound, and its claim is above the budget;
/// - later, if a body of unknown length needs more than the whole budget;
/// - under a [`fail_fast`](Self::fail_fast) handle, if the budget has no room now.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use presized::{MemoryBudget, Reader};
///
/// let budget = MemoryBudget::new(256 << 20);
/// let reader = Reader::new(6 << 20).budget(&budget);
/// # let body = http_body_util::Full::<bytes::Bytes>::from("hello");
/// let content = reader.collect(body).content_length(5).await?;
/// assert_eq!(budget.in_use(), 5);
/// drop(content);
/// assert_eq!(budget.in_use(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MemoryBudget {
    shared: Arc<Shared>,
    waits: bool,
}

struct Shared {
    capacity: u64,
    bank: Mutex<Bank>,
}

impl MemoryBudget {
    /// Creates a budget of `capacity` bytes. A budget of 0 admits only reads with a limit of 0.
    pub fn new(capacity: u64) -> Self {
        let bank = Mutex::new(Bank::new(capacity));
        Self { shared: Arc::new(Shared { capacity, bank }), waits: true }
    }

    /// Returns a handle to the same budget under which a body fails instead of waiting.
    #[must_use = "only reads under the returned handle fail fast"]
    pub fn fail_fast(&self) -> Self {
        Self { shared: self.shared.clone(), waits: false }
    }

    /// Returns the capacity in bytes.
    pub fn capacity(&self) -> u64 {
        self.shared.capacity
    }

    /// Returns the number of bytes that are granted now.
    pub fn in_use(&self) -> u64 {
        self.shared.capacity - self.shared.lock().free()
    }

    /// Opens the account of a body that claims at most this many bytes.
    pub(crate) fn open(&self, claim: u64) -> Account {
        let id = self.shared.lock().open(claim);
        Account { shared: self.shared.clone(), id, waits: self.waits }
    }
}

impl fmt::Debug for MemoryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBudget")
            .field("capacity", &self.capacity())
            .field("in_use", &self.in_use())
            .field("waits", &self.waits)
            .finish()
    }
}

/// The account of one body. It is dropped when the body is read or given up.
pub(crate) struct Account {
    shared: Arc<Shared>,
    id: u64,
    waits: bool,
}

impl Account {
    /// Requests `bytes` more. It must be polled until it is ready. After the last request, the body
    /// needs no more memory.
    ///
    /// Dropping the account withdraws the request.
    pub(crate) fn poll_share(
        &self,
        cx: &mut Context<'_>,
        bytes: u64,
        is_last: bool,
    ) -> Poll<Result<Share, Exhausted>> {
        self.request(self.waits.then(|| cx.waker()), bytes, is_last)
    }

    /// Requests `bytes` without waiting.
    pub(crate) fn try_share(&self, bytes: u64, is_last: bool) -> Option<Share> {
        match self.request(None, bytes, is_last) {
            Poll::Ready(Ok(share)) => Some(share),
            _ => None,
        }
    }

    fn request(
        &self,
        waker: Option<&Waker>,
        bytes: u64,
        is_last: bool,
    ) -> Poll<Result<Share, Exhausted>> {
        // Wakers are cloned and dropped without the lock: a waker can own a task, and the task can
        // own shares of this budget.
        let request = Request { bytes, is_last, waker: waker.cloned() };
        let mut stale = None;
        let mut bank = self.shared.lock();
        let answer = bank.request(self.id, request, &mut stale);
        // A body that needs no more can make room for others to grow.
        let served = if answer.is_ready() { bank.serve() } else { Vec::new() };
        drop(bank);
        drop(stale);
        served.into_iter().for_each(Waker::wake);
        let share = || Share { shared: self.shared.clone(), id: self.id, bytes };
        answer.map_ok(|()| share())
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let mut bank = self.shared.lock();
        let stale = bank.close(self.id);
        let served = bank.serve();
        drop(bank);
        drop(stale);
        served.into_iter().for_each(Waker::wake);
    }
}

/// Granted bytes of the budget. Dropping it returns them.
pub(crate) struct Share {
    shared: Arc<Shared>,
    id: u64,
    bytes: u64,
}

impl Share {
    /// Returns all but `bytes` to the budget.
    pub(crate) fn shrink(&mut self, bytes: u64) {
        let rest = self.bytes.saturating_sub(bytes);
        self.bytes -= rest;
        self.give_back(rest);
    }

    fn give_back(&self, bytes: u64) {
        let mut bank = self.shared.lock();
        bank.give_back(self.id, bytes);
        let served = bank.serve();
        drop(bank);
        served.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.give_back(self.bytes);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Bank> {
        // No code panics while it holds the lock.
        self.bank.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
