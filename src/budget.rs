//! One bound on the memory of many bodies.
//!
//! Hands out shares, in bytes, and takes them back; who gets one is decided in `bank.rs`.
//! Knows no body and reserves nothing.

use std::fmt;
use std::task::{Context, Poll, Waker};

use crate::bank::{Bank, Exhausted};
use crate::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A bound in bytes on the memory of all bodies that are read under it.
///
/// A body of known length takes its share before its memory is reserved, one of unknown
/// length takes shares as it grows. Where there is not enough left, the body waits for
/// others to finish; under a [`fail_fast`](Self::fail_fast) handle it fails. The content
/// of a finished body counts until its last [`Bytes`](bytes::Bytes) is dropped, since that
/// is how long its memory is taken; a `Vec`, a `String` and the caller's buffer leave the
/// budget when they are handed out. Clones share one bound.
///
/// Not in it is what the transport holds: the read buffer of each connection, a large frame
/// that is handed over as it came, and the frame of a body that waits. Nor is what the
/// caller's buffer had room for, what is idle in a pool, nor the copy in which
/// [`CollectError::into_partial`](crate::CollectError::into_partial) joins what had arrived.
/// An error holds its bytes, and their share, until it is dropped.
///
/// # Order
///
/// Bodies that hold something and need more are served first, and those that hold nothing
/// after them, both in the order in which they asked. A body that holds nothing is never
/// overtaken by another such; one that holds something, by a later one whose share can be
/// handed out now where its own cannot.
///
/// # Why it cannot deadlock
///
/// Every body has a claim, the most memory it can come to hold: its length where that is
/// known; else what its limit needs, both copies counted while blocks are joined; and never
/// more than the budget. A share is handed out only if all bodies could still be finished
/// one after the other in some order, each by what is left and what those before it give
/// back: Dijkstra's banker's algorithm (EWD 108, 1965). So there is always one that can be served
/// to its end. A body that outgrows its claim is given what it asks only if that is there,
/// and fails otherwise: it never waits for more than it claimed while it holds something.
///
/// The price is room that is kept free: a body of unknown length has a right to a little
/// more than twice its limit, up to the whole budget, and one above the eager bound to twice
/// its length. Keep limits small beside the budget, or one slow body keeps others waiting.
///
/// What it takes is that peers go on sending, or are given up by a timeout, and that
/// contents are dropped: a task that keeps contents which fill the budget and awaits one
/// more body waits for itself. Over HTTP/2, bodies that wait fill the window of the connection
/// they share with bodies that do not; give it a window that is larger than those of its
/// streams together.
///
/// # Errors
///
/// [`CollectError::Budget`](crate::CollectError::Budget) at once, before the body is polled,
/// for a limit above the budget and for an exact length whose claim is above it. Later, for
/// a body of unknown length that has grown beyond what the budget could hold.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use presized::{Collect, MemoryBudget};
///
/// let budget = MemoryBudget::new(256 << 20);
/// # let body = http_body_util::Full::<bytes::Bytes>::from("hello");
/// let content = Collect::new(body, Reader::new(6 << 20).budget(&budget)).content_length(Some(5)).bytes().await?;
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
    /// A budget of this many bytes. Under 0, only empty bodies with a limit of 0 are read.
    pub fn new(capacity: u64) -> Self {
        let bank = Mutex::new(Bank::new(capacity));
        Self { shared: Arc::new(Shared { capacity, bank }), waits: true }
    }

    /// The same budget for bodies that fail where they would have to wait.
    #[must_use = "it is this handle under which bodies fail"]
    pub fn fail_fast(&self) -> Self {
        Self { shared: self.shared.clone(), waits: false }
    }

    /// The whole of it, in bytes.
    pub fn capacity(&self) -> u64 {
        self.shared.capacity
    }

    /// Bytes that are handed out.
    pub fn in_use(&self) -> u64 {
        self.shared.capacity - self.shared.lock().free()
    }

    /// A body that is read under this budget and claims this many bytes at the most.
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

/// A body under a budget. Dropped when the body is read, or given up.
pub(crate) struct Account {
    shared: Arc<Shared>,
    id: u64,
    waits: bool,
}

impl Account {
    /// Asks for `bytes` more, and is to be polled until it is ready.
    ///
    /// Dropping the account takes the request back.
    pub(crate) fn poll_share(
        &self,
        cx: &mut Context<'_>,
        bytes: u64,
    ) -> Poll<Result<Share, Exhausted>> {
        self.request(self.waits.then(|| cx.waker()), bytes)
    }

    /// Asks for `bytes` that are a convenience, and not waited for.
    pub(crate) fn try_share(&self, bytes: u64) -> Option<Share> {
        match self.request(None, bytes) {
            Poll::Ready(Ok(share)) => Some(share),
            _ => None,
        }
    }

    fn request(&self, waker: Option<&Waker>, bytes: u64) -> Poll<Result<Share, Exhausted>> {
        // Outside of the lock: an executor can keep a task in its waker, and with the task
        // go shares of this budget.
        let waker = waker.cloned();
        let mut stale = None;
        let answer = self.shared.lock().request(self.id, bytes, waker, &mut stale);
        drop(stale);
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

/// Bytes of the budget, given back when they are dropped.
pub(crate) struct Share {
    shared: Arc<Shared>,
    id: u64,
    bytes: u64,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut bank = self.shared.lock();
        bank.give_back(self.id, self.bytes);
        let served = bank.serve();
        drop(bank);
        served.into_iter().for_each(Waker::wake);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Bank> {
        // Nothing panics while it is held.
        self.bank.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
