//! One bound on the memory of many bodies, without deadlock.
//!
//! Knows no body and reserves nothing: it hands out shares, in bytes, and takes them back.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::task::{Context, Poll, Waker};

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
/// What the transport holds is not in it: the read buffer of each connection, a large frame
/// that is handed over as it came, and the frame of a body that waits.
///
/// # Order
///
/// Bodies that hold something and need more are served first, and those that hold nothing
/// after them, both in the order in which they asked. Nobody is overtaken by one that came
/// later, except where that one can be finished now and he cannot.
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
/// What it takes is that peers go on sending, or are given up by a timeout, and that
/// contents are dropped. Whoever keeps contents that fill the budget and awaits one more
/// body waits for himself. Over HTTP/2, bodies that wait fill the window of the connection
/// they share with bodies that do not; give it a window that is larger than those of its
/// streams together.
///
/// # Errors
///
/// A limit above the budget is [`CollectError::Budget`](crate::CollectError::Budget) at
/// once, before the body is polled, and so is a share that the whole budget could not hold.
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
/// let content = Collect::new(body, 6 << 20).content_length(Some(5)).budget(&budget).bytes().await?;
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
    bytes: u64,
    state: Mutex<State>,
}

struct State {
    free: u64,
    next: u64,
    bodies: BTreeMap<u64, Entry>,
    /// Bodies that hold something and wait for more, in the order of their requests.
    growing: VecDeque<u64>,
    /// Bodies that hold nothing and wait, in the order of their requests.
    newcomers: VecDeque<u64>,
}

/// One body: while it is read, and for as long as its content is alive.
struct Entry {
    held: u64,
    claim: u64,
    reading: bool,
    request: Option<Request>,
}

struct Request {
    bytes: u64,
    granted: bool,
    waker: Waker,
}

impl MemoryBudget {
    /// A budget of this many bytes.
    pub fn new(bytes: u64) -> Self {
        let state = State {
            free: bytes,
            next: 0,
            bodies: BTreeMap::new(),
            growing: VecDeque::new(),
            newcomers: VecDeque::new(),
        };
        Self { shared: Arc::new(Shared { bytes, state: Mutex::new(state) }), waits: true }
    }

    /// The same budget for bodies that fail where they would have to wait.
    pub fn fail_fast(&self) -> Self {
        Self { shared: self.shared.clone(), waits: false }
    }

    /// The whole of it, in bytes.
    pub fn bytes(&self) -> u64 {
        self.shared.bytes
    }

    /// Bytes that are handed out.
    pub fn in_use(&self) -> u64 {
        self.shared.bytes - self.shared.lock().free
    }

    /// A body that is read under this budget and claims this many bytes at the most.
    pub(crate) fn open(&self, claim: u64) -> Account {
        let mut state = self.shared.lock();
        let id = state.next;
        state.next += 1;
        let claim = claim.min(self.shared.bytes);
        state.bodies.insert(id, Entry { held: 0, claim, reading: true, request: None });
        Account { shared: self.shared.clone(), id, waits: self.waits }
    }
}

impl fmt::Debug for MemoryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBudget")
            .field("bytes", &self.bytes())
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

/// Bytes of the budget, given back when they are dropped.
pub(crate) struct Share {
    shared: Arc<Shared>,
    id: u64,
    bytes: u64,
}

/// There is not enough left of the budget, and the body does not wait for it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

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
        let share = || Share { shared: self.shared.clone(), id: self.id, bytes };
        let mut state = self.shared.lock();
        let Some(entry) = state.bodies.get_mut(&self.id) else {
            return Poll::Ready(Err(Exhausted));
        };
        match &mut entry.request {
            Some(request) if request.granted => {
                debug_assert_eq!(request.bytes, bytes);
                entry.request = None;
                return Poll::Ready(Ok(share()));
            }
            Some(request) => {
                if let Some(waker) = waker {
                    request.waker.clone_from(waker);
                }
                return Poll::Pending;
            }
            None => {}
        }
        let total = entry.held.saturating_add(bytes);
        if total > self.shared.bytes {
            return Poll::Ready(Err(Exhausted));
        }
        let holds = entry.held > 0;
        let outgrown = total > entry.claim;
        let claimed = entry.claim;
        entry.claim = claimed.max(total);
        if (holds || !state.anybody_waits()) && state.can_grant(self.id, bytes) {
            state.grant(self.id, bytes);
            return Poll::Ready(Ok(share()));
        }
        let Some(entry) = state.bodies.get_mut(&self.id) else {
            return Poll::Ready(Err(Exhausted));
        };
        let Some(waker) = waker.filter(|_| !(outgrown && holds)) else {
            entry.claim = claimed;
            return Poll::Ready(Err(Exhausted));
        };
        entry.request = Some(Request { bytes, granted: false, waker: waker.clone() });
        let queue = if holds { &mut state.growing } else { &mut state.newcomers };
        queue.push_back(self.id);
        Poll::Pending
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.growing.retain(|&id| id != self.id);
        state.newcomers.retain(|&id| id != self.id);
        if let Some(entry) = state.bodies.get_mut(&self.id) {
            entry.reading = false;
            let not_fetched = entry.request.take().filter(|request| request.granted);
            if let Some(request) = not_fetched {
                entry.held -= request.bytes;
                state.free += request.bytes;
            }
        }
        state.settle(self.id);
        wake(state);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.free += self.bytes;
        if let Some(entry) = state.bodies.get_mut(&self.id) {
            entry.held -= self.bytes;
        }
        state.settle(self.id);
        wake(state);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn grant(&mut self, id: u64, bytes: u64) {
        self.free -= bytes;
        if let Some(entry) = self.bodies.get_mut(&id) {
            entry.held += bytes;
        }
    }

    /// A body that is no longer read claims what it holds, and is forgotten without it.
    fn settle(&mut self, id: u64) {
        if let Some(entry) = self.bodies.get_mut(&id) {
            if !entry.reading {
                entry.claim = entry.held;
                if entry.held == 0 {
                    self.bodies.remove(&id);
                }
            }
        }
    }

    fn anybody_waits(&self) -> bool {
        !self.growing.is_empty() || !self.newcomers.is_empty()
    }

    /// Grants what can be granted, and returns whom to wake.
    fn serve(&mut self) -> Vec<Waker> {
        let mut woken = Vec::new();
        let mut position = 0;
        while let Some(&id) = self.growing.get(position) {
            if self.grant_request(id, &mut woken) {
                self.growing.remove(position);
            } else {
                position += 1;
            }
        }
        while self.growing.is_empty() {
            let Some(id) = self.newcomers.front().copied() else { break };
            if !self.grant_request(id, &mut woken) {
                break;
            }
            self.newcomers.pop_front();
        }
        woken
    }

    /// Grants the request of a body in a queue if that can be. True if it is served.
    fn grant_request(&mut self, id: u64, woken: &mut Vec<Waker>) -> bool {
        let Some(bytes) = self.bodies.get(&id).and_then(|body| Some(body.request.as_ref()?.bytes))
        else {
            return true;
        };
        if !self.can_grant(id, bytes) {
            return false;
        }
        self.grant(id, bytes);
        if let Some(request) = self.bodies.get_mut(&id).and_then(|body| body.request.as_mut()) {
            request.granted = true;
            woken.push(request.waker.clone());
        }
        true
    }

    fn can_grant(&self, id: u64, bytes: u64) -> bool {
        bytes <= self.free && self.is_safe_to_grant(id, bytes)
    }

    /// Whether all bodies can be finished, one after the other, once `id` has `bytes` more.
    ///
    /// Bodies that hold nothing come last in any order and can always be finished then,
    /// since no claim is above the budget.
    fn is_safe_to_grant(&self, id: u64, bytes: u64) -> bool {
        let of = |(&body, entry): (&u64, &Entry)| {
            let held = entry.held + if body == id { bytes } else { 0 };
            (entry.claim.saturating_sub(held), held)
        };
        // With all it claims, it can finish by itself, and gives back more than it is given.
        if self.bodies.get_key_value(&id).is_some_and(|body| of(body).0 == 0) {
            return true;
        }
        let mut holders: Vec<_> =
            self.bodies.iter().map(of).filter(|(_, held)| *held > 0).collect();
        holders.sort_unstable();
        let mut free = self.free - bytes;
        holders.into_iter().all(|(need, held)| {
            let can_finish = need <= free;
            free += held;
            can_finish
        })
    }
}

/// Serves the queue, and wakes without the lock.
fn wake(mut state: MutexGuard<'_, State>) {
    let woken = state.serve();
    drop(state);
    woken.into_iter().for_each(Waker::wake);
}
