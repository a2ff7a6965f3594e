//! The accounts of a memory budget: the banker's algorithm.
//!
//! Decides which request is granted and which waits. It works on numbers and wakers and takes no
//! lock. The documentation of `MemoryBudget` has the rules and the reason why they are safe.

use std::collections::{BTreeMap, BTreeSet};
use std::task::{Poll, Waker};

/// The accounts of one budget. Sizes are in bytes.
pub(crate) struct Bank {
    capacity: u64,
    free: u64,
    /// The next number of a body or a request.
    next: u64,
    /// The bodies that are being read.
    bodies: BTreeMap<u64, Body>,
    /// The bodies that hold memory, by the bytes that they may still need.
    needs: BTreeSet<(u64, u64)>,
    /// Bytes of finished contents. They return when the contents are dropped.
    settled: u64,
    /// Bodies that hold memory and wait for more, by the numbers of their requests.
    growing: BTreeMap<u64, u64>,
    /// Bodies that hold nothing and wait, by the numbers of their requests.
    newcomers: BTreeMap<u64, u64>,
}

struct Body {
    held: u64,
    claim: u64,
    request: Option<Request>,
}

impl Body {
    /// Returns the bytes that it may still need.
    fn need(&self) -> u64 {
        self.claim.saturating_sub(self.held)
    }
}

struct Request {
    /// Its key in the queue.
    number: u64,
    bytes: u64,
    /// `None` once the request is granted.
    waker: Option<Waker>,
}

/// The budget has no room now, and the body does not wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Bank {
    pub(crate) fn new(capacity: u64) -> Self {
        Self {
            capacity,
            free: capacity,
            next: 0,
            bodies: BTreeMap::new(),
            needs: BTreeSet::new(),
            settled: 0,
            growing: BTreeMap::new(),
            newcomers: BTreeMap::new(),
        }
    }

    pub(crate) fn free(&self) -> u64 {
        self.free
    }

    /// Opens the account of a body that claims at most this many bytes.
    pub(crate) fn open(&mut self, claim: u64) -> u64 {
        let id = self.number();
        let claim = claim.min(self.capacity);
        self.bodies.insert(id, Body { held: 0, claim, request: None });
        id
    }

    /// Requests `bytes` more, or repeats that request. Without a waker the body does not wait. A
    /// replaced waker goes to `stale`, so that the caller drops it without the lock.
    pub(crate) fn request(
        &mut self,
        id: u64,
        bytes: u64,
        waker: Option<Waker>,
        stale: &mut Option<Waker>,
    ) -> Poll<Result<(), Exhausted>> {
        let has_waiters = !self.growing.is_empty() || !self.newcomers.is_empty();
        let Some(body) = self.bodies.get_mut(&id) else {
            return Poll::Ready(Err(Exhausted));
        };
        if let Some(request) = &mut body.request {
            debug_assert_eq!(request.bytes, bytes);
            if request.waker.is_some() {
                // A request without a waker leaves the waiting one in place.
                if waker.is_some() {
                    *stale = std::mem::replace(&mut request.waker, waker);
                }
                return Poll::Pending;
            }
            body.request = None;
            return Poll::Ready(Ok(()));
        }
        let total = body.held.saturating_add(bytes);
        if total > self.capacity {
            return Poll::Ready(Err(Exhausted));
        }
        let holds = body.held > 0;
        let outgrown = total > body.claim;
        if (holds || !has_waiters) && self.can_grant(id, bytes) {
            self.grant(id, bytes);
            return Poll::Ready(Ok(()));
        }
        // A body that holds memory and waits for more than it claimed could deadlock.
        let Some(waker) = waker.filter(|_| !holds || !outgrown) else {
            return Poll::Ready(Err(Exhausted));
        };
        let number = self.number();
        let Some(body) = self.bodies.get_mut(&id) else {
            return Poll::Ready(Err(Exhausted));
        };
        // The claim rises only for a body that holds nothing, so no grant depends on it yet.
        body.claim = body.claim.max(total);
        body.request = Some(Request { number, bytes, waker: Some(waker) });
        let queue = if holds { &mut self.growing } else { &mut self.newcomers };
        queue.insert(number, id);
        Poll::Pending
    }

    /// Closes the account of a body that is finished or given up. Returns the waker of a request
    /// that is withdrawn.
    pub(crate) fn close(&mut self, id: u64) -> Option<Waker> {
        let mut body = self.bodies.remove(&id)?;
        self.needs.remove(&(body.need(), id));
        let request = body.request.take();
        let mut waker = None;
        if let Some(request) = request {
            self.growing.remove(&request.number);
            self.newcomers.remove(&request.number);
            waker = request.waker;
            if waker.is_none() {
                // The request was granted and not polled again.
                body.held -= request.bytes;
                self.free += request.bytes;
            }
        }
        self.settled += body.held;
        waker
    }

    /// Returns `bytes` of the body, or of its content, to the budget.
    pub(crate) fn give_back(&mut self, id: u64, bytes: u64) {
        self.free += bytes;
        if self.bodies.contains_key(&id) {
            self.change(id, |body| body.held -= bytes);
        } else {
            self.settled -= bytes;
        }
    }

    /// Grants the requests that can be granted, and returns the wakers to wake.
    pub(crate) fn serve(&mut self) -> Vec<Waker> {
        let mut served = Vec::new();
        let mut from = 0;
        while let Some((&number, &id)) = self.growing.range(from..).next() {
            from = number + 1;
            if self.grant_request(id, &mut served) {
                self.growing.remove(&number);
            }
        }
        while self.growing.is_empty() {
            let Some((_, &id)) = self.newcomers.first_key_value() else { break };
            if !self.grant_request(id, &mut served) {
                break;
            }
            self.newcomers.pop_first();
        }
        served
    }

    /// Grants the request of a waiting body if it can be granted. Returns whether the body leaves
    /// its queue.
    fn grant_request(&mut self, id: u64, served: &mut Vec<Waker>) -> bool {
        let Some(bytes) = self.bodies.get(&id).and_then(|body| Some(body.request.as_ref()?.bytes))
        else {
            return true;
        };
        if !self.can_grant(id, bytes) {
            return false;
        }
        self.grant(id, bytes);
        let request = self.bodies.get_mut(&id).and_then(|body| body.request.as_mut());
        served.extend(request.and_then(|request| request.waker.take()));
        true
    }

    fn number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    fn grant(&mut self, id: u64, bytes: u64) {
        self.free -= bytes;
        self.change(id, |body| {
            body.held += bytes;
            body.claim = body.claim.max(body.held);
        });
    }

    fn change(&mut self, id: u64, change: impl FnOnce(&mut Body)) {
        let Some(body) = self.bodies.get_mut(&id) else { return };
        self.needs.remove(&(body.need(), id));
        change(body);
        if body.held > 0 {
            self.needs.insert((body.need(), id));
        }
    }

    /// Returns whether `bytes` are free, and whether all bodies can still finish one after the
    /// other once `id` holds them.
    ///
    /// The bodies that need least finish first, because the bytes that they return help the others.
    /// Bodies that hold nothing can finish last in any order, because no claim is above the budget.
    fn can_grant(&self, id: u64, bytes: u64) -> bool {
        let (Some(free), Some(body)) = (self.free.checked_sub(bytes), self.bodies.get(&id)) else {
            return false;
        };
        let own_need = body.need().saturating_sub(bytes);
        // With its whole claim the body can finish alone, and then returns it.
        if own_need == 0 {
            return true;
        }
        let mut free = free + self.settled;
        let mut own = Some(body.held + bytes);
        let most_needed = self.needs.last().map_or(0, |&(need, _)| need).max(own_need);
        for &(need, other) in self.needs.iter().filter(|&&(_, other)| other != id) {
            if own_need <= free {
                free += own.take().unwrap_or(0);
            }
            if most_needed <= free {
                return true;
            }
            if need > free {
                return false;
            }
            free += self.bodies.get(&other).map_or(0, |body| body.held);
        }
        own.is_none() || own_need <= free
    }
}

#[cfg(test)]
mod tests;
