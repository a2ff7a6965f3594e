//! Who gets a share of a budget, and who waits: the banker's algorithm.
//!
//! Knows numbers and wakers, and takes no lock. The rules and why they are safe are in the
//! documentation of `MemoryBudget`.

use std::collections::{BTreeMap, VecDeque};
use std::task::{Poll, Waker};

/// The books of one budget. Sizes are in bytes.
pub(crate) struct Bank {
    capacity: u64,
    free: u64,
    next: u64,
    bodies: BTreeMap<u64, Body>,
    /// Bodies that hold something and wait for more, in the order of their requests.
    growing: VecDeque<u64>,
    /// Bodies that hold nothing and wait, in the order of their requests.
    newcomers: VecDeque<u64>,
}

/// One body: while it is read, and for as long as its content is alive.
struct Body {
    held: u64,
    claim: u64,
    reading: bool,
    request: Option<Request>,
}

struct Request {
    bytes: u64,
    /// Gone once it is granted.
    waker: Option<Waker>,
}

/// There is not enough left of the budget, and the body does not wait for it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Bank {
    pub(crate) fn new(capacity: u64) -> Self {
        Self {
            capacity,
            free: capacity,
            next: 0,
            bodies: BTreeMap::new(),
            growing: VecDeque::new(),
            newcomers: VecDeque::new(),
        }
    }

    pub(crate) fn free(&self) -> u64 {
        self.free
    }

    /// A new body that claims this many bytes at the most.
    pub(crate) fn open(&mut self, claim: u64) -> u64 {
        let id = self.next;
        self.next += 1;
        let claim = claim.min(self.capacity);
        self.bodies.insert(id, Body { held: 0, claim, reading: true, request: None });
        id
    }

    /// The body asks for `bytes` more, for the first time or again. Without a waker it does
    /// not wait. A waker that is not needed any more goes to `stale`, to be dropped without
    /// the lock.
    pub(crate) fn request(
        &mut self,
        id: u64,
        bytes: u64,
        waker: Option<Waker>,
        stale: &mut Option<Waker>,
    ) -> Poll<Result<(), Exhausted>> {
        let anybody_waits = !self.growing.is_empty() || !self.newcomers.is_empty();
        let Some(body) = self.bodies.get_mut(&id) else {
            return Poll::Ready(Err(Exhausted));
        };
        if let Some(request) = &mut body.request {
            debug_assert_eq!(request.bytes, bytes);
            if request.waker.is_some() {
                *stale = std::mem::replace(&mut request.waker, waker);
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
        let claimed = body.claim;
        body.claim = claimed.max(total);
        if (holds || !anybody_waits) && self.can_grant(id, bytes) {
            self.grant(id, bytes);
            return Poll::Ready(Ok(()));
        }
        let Some(body) = self.bodies.get_mut(&id) else {
            return Poll::Ready(Err(Exhausted));
        };
        // Waiting for more than was claimed, with something in hand, is how deadlocks begin.
        let Some(waker) = waker.filter(|_| !holds || total <= claimed) else {
            body.claim = claimed;
            return Poll::Ready(Err(Exhausted));
        };
        body.request = Some(Request { bytes, waker: Some(waker) });
        let queue = if holds { &mut self.growing } else { &mut self.newcomers };
        queue.push_back(id);
        Poll::Pending
    }

    /// The body is read, or given up. Gives the waker of a request that it does not need.
    pub(crate) fn close(&mut self, id: u64) -> Option<Waker> {
        self.growing.retain(|&waiting| waiting != id);
        self.newcomers.retain(|&waiting| waiting != id);
        let body = self.bodies.get_mut(&id)?;
        body.reading = false;
        let request = body.request.take();
        let mut waker = None;
        if let Some(request) = request {
            waker = request.waker;
            if waker.is_none() {
                // Granted, and not fetched.
                body.held -= request.bytes;
                self.free += request.bytes;
            }
        }
        self.settle(id);
        waker
    }

    /// The body, or its content, has `bytes` less.
    pub(crate) fn give_back(&mut self, id: u64, bytes: u64) {
        self.free += bytes;
        if let Some(body) = self.bodies.get_mut(&id) {
            body.held -= bytes;
        }
        self.settle(id);
    }

    /// Grants what can be granted, and gives whom to wake.
    pub(crate) fn serve(&mut self) -> Vec<Waker> {
        let mut served = Vec::new();
        let mut position = 0;
        while let Some(&id) = self.growing.get(position) {
            if self.grant_request(id, &mut served) {
                self.growing.remove(position);
            } else {
                position += 1;
            }
        }
        while self.growing.is_empty() {
            let Some(id) = self.newcomers.front().copied() else { break };
            if !self.grant_request(id, &mut served) {
                break;
            }
            self.newcomers.pop_front();
        }
        served
    }

    /// Grants the request of a body in a queue if that can be. True if it is served.
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

    fn grant(&mut self, id: u64, bytes: u64) {
        self.free -= bytes;
        if let Some(body) = self.bodies.get_mut(&id) {
            body.held += bytes;
        }
    }

    /// A body that is no longer read claims what it holds, and is forgotten without it.
    fn settle(&mut self, id: u64) {
        let Some(body) = self.bodies.get_mut(&id).filter(|body| !body.reading) else {
            return;
        };
        body.claim = body.held;
        if body.held == 0 {
            self.bodies.remove(&id);
        }
    }

    /// Whether there are `bytes`, and all bodies can still be finished, one after the other,
    /// once `id` has them.
    ///
    /// Bodies that hold nothing come last in any order and can always be finished then,
    /// since no claim is above the budget.
    fn can_grant(&self, id: u64, bytes: u64) -> bool {
        let Some(mut free) = self.free.checked_sub(bytes) else {
            return false;
        };
        let need_and_held = |(&other, body): (&u64, &Body)| {
            let held = body.held + if other == id { bytes } else { 0 };
            (body.claim.saturating_sub(held), held)
        };
        // With all it claims it can finish by itself, and then gives back more than it got.
        let own = self.bodies.get_key_value(&id).map(need_and_held);
        if own.is_some_and(|(need, _)| need == 0) {
            return true;
        }
        let mut holders: Vec<_> =
            self.bodies.iter().map(need_and_held).filter(|(_, held)| *held > 0).collect();
        holders.sort_unstable();
        holders.into_iter().all(|(need, held)| {
            let can_finish = need <= free;
            free += held;
            can_finish
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Books in which bodies with these claims hold this much, and the first asks.
    fn bank(capacity: u64, bodies: &[(u64, u64)]) -> Bank {
        let mut bank = Bank::new(capacity);
        for &(claim, held) in bodies {
            let id = bank.open(claim);
            bank.grant(id, held);
        }
        bank
    }

    #[test]
    fn share_is_granted_where_all_can_still_finish() {
        type Case<'a> = (u64, &'a [(u64, u64)], u64, bool);
        let table: &[Case<'_>] = &[
            // capacity, (claim, held) of the bodies, what the first asks, whether it gets it
            (10, &[(10, 0)], 10, true),
            (10, &[(10, 0)], 11, false),
            // The other one needs six more, of which the first would take the last.
            (10, &[(10, 0), (10, 4)], 1, false),
            (10, &[(5, 0), (10, 4)], 1, true),
            // All that it claims: it finishes by itself.
            (10, &[(6, 0), (10, 4)], 6, true),
            // After the first, the second, and only then the third can be finished.
            (10, &[(4, 2), (7, 2), (10, 3)], 1, true),
            // The second could finish after the first, and the third after nobody.
            (10, &[(4, 2), (10, 2), (10, 3)], 1, false),
            (10, &[(4, 2), (10, 2), (10, 3)], 2, true),
            // Those that hold nothing come last.
            (10, &[(10, 5), (10, 0), (10, 0)], 1, true),
            // Content that is read claims what it holds, and is given back.
            (10, &[(6, 0), (5, 5)], 1, true),
        ];
        for &(capacity, bodies, bytes, granted) in table {
            assert_eq!(bank(capacity, bodies).can_grant(0, bytes), granted, "{bodies:?} {bytes}");
        }
    }

    #[test]
    fn body_is_forgotten_with_the_last_it_holds() {
        let mut bank = bank(10, &[(10, 4)]);
        assert!(bank.close(0).is_none());
        assert_eq!((bank.bodies.len(), bank.free()), (1, 6));
        bank.give_back(0, 4);
        assert_eq!((bank.bodies.len(), bank.free()), (0, 10));
    }
}
