//! Who gets a share of a budget, and who waits: the banker's algorithm.
//!
//! Knows numbers and wakers, and takes no lock. The rules and why they are safe are in the
//! documentation of `MemoryBudget`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::task::{Poll, Waker};

/// The books of one budget. Sizes are in bytes.
pub(crate) struct Bank {
    capacity: u64,
    free: u64,
    next: u64,
    /// Bodies that are read.
    bodies: BTreeMap<u64, Body>,
    /// Those of them that hold something, by what they may come to need.
    needs: BTreeSet<(u64, u64)>,
    /// Bytes of contents that are read to their end, and given back when they are dropped.
    settled: u64,
    /// Bodies that hold something and wait for more, in the order of their requests.
    growing: VecDeque<u64>,
    /// Bodies that hold nothing and wait, in the order of their requests.
    newcomers: VecDeque<u64>,
}

struct Body {
    held: u64,
    claim: u64,
    request: Option<Request>,
}

impl Body {
    /// What it may need beside what it holds.
    fn need(&self) -> u64 {
        self.claim.saturating_sub(self.held)
    }
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
            needs: BTreeSet::new(),
            settled: 0,
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
        self.bodies.insert(id, Body { held: 0, claim, request: None });
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
                // Without one it is asked for in passing; who waits for it stays the same.
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
        if (holds || !anybody_waits) && self.can_grant(id, bytes) {
            self.grant(id, bytes);
            return Poll::Ready(Ok(()));
        }
        // Waiting for more than was claimed, with something in hand, is how deadlocks begin.
        let Some(waker) = waker.filter(|_| !holds || !outgrown) else {
            return Poll::Ready(Err(Exhausted));
        };
        let Some(body) = self.bodies.get_mut(&id) else {
            return Poll::Ready(Err(Exhausted));
        };
        // Nothing is held where this raises it, so that nobody counts on it yet.
        body.claim = body.claim.max(total);
        body.request = Some(Request { bytes, waker: Some(waker) });
        let queue = if holds { &mut self.growing } else { &mut self.newcomers };
        queue.push_back(id);
        Poll::Pending
    }

    /// The body is read, or given up. Gives the waker of a request that it does not need.
    pub(crate) fn close(&mut self, id: u64) -> Option<Waker> {
        self.growing.retain(|&waiting| waiting != id);
        self.newcomers.retain(|&waiting| waiting != id);
        let mut body = self.bodies.remove(&id)?;
        self.needs.remove(&(body.need(), id));
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
        self.settled += body.held;
        waker
    }

    /// The body, or its content, has `bytes` less.
    pub(crate) fn give_back(&mut self, id: u64, bytes: u64) {
        self.free += bytes;
        if self.bodies.contains_key(&id) {
            self.change(id, |body| body.held -= bytes);
        } else {
            self.settled -= bytes;
        }
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

    /// Whether there are `bytes`, and all bodies can still be finished, one after the other,
    /// once `id` has them.
    ///
    /// Those that need least are finished first, since what they give back can only help the
    /// others. Bodies that hold nothing come last in any order and can always be finished
    /// then, since no claim is above the budget.
    fn can_grant(&self, id: u64, bytes: u64) -> bool {
        let (Some(free), Some(body)) = (self.free.checked_sub(bytes), self.bodies.get(&id)) else {
            return false;
        };
        let own_need = body.need().saturating_sub(bytes);
        // With all it claims it can finish by itself, and then gives back more than it got.
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
            // One that holds all it claims gives it back.
            (10, &[(6, 0), (5, 5)], 1, true),
        ];
        for &(capacity, bodies, bytes, granted) in table {
            assert_eq!(bank(capacity, bodies).can_grant(0, bytes), granted, "{bodies:?} {bytes}");
        }
    }

    /// Every state of three bodies under a small budget, against the textbook: try all orders.
    #[test]
    fn safety_is_that_of_the_textbook() {
        fn finishes(free: u64, left: &[(u64, u64)]) -> bool {
            left.is_empty()
                || (0..left.len()).any(|first| {
                    let (need, held) = left[first];
                    let mut others = left.to_vec();
                    others.remove(first);
                    need <= free && finishes(free + held, &others)
                })
        }
        const CAPACITY: u64 = 5;
        let bodies = || (0..=CAPACITY).flat_map(|claim| (0..=claim).map(move |held| (claim, held)));
        let mut checked = 0;
        for settled in 0..=1 {
            for (first, second) in bodies().flat_map(|a| bodies().map(move |b| (a, b))) {
                for third in bodies() {
                    let all = [first, second, third];
                    let held = settled + all.iter().map(|(_, held)| held).sum::<u64>();
                    let Some(free) = CAPACITY.checked_sub(held) else { continue };
                    let needs = all.map(|(claim, held)| (claim - held, held));
                    // What cannot be finished is never come to.
                    if !finishes(free + settled, &needs) {
                        continue;
                    }
                    let mut bank = bank(CAPACITY, &all);
                    bank.settled = settled;
                    bank.free = free;
                    for bytes in 1..=first.0 - first.1 {
                        let mut after = needs;
                        after[0] = (needs[0].0 - bytes, needs[0].1 + bytes);
                        let safe = bytes <= free && finishes(free - bytes + settled, &after);
                        assert_eq!(bank.can_grant(0, bytes), safe, "{all:?} {settled} {bytes}");
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked > 500, "{checked}");
    }

    #[test]
    fn content_outlives_the_body_in_the_books() {
        let mut bank = bank(10, &[(10, 4)]);
        assert!(bank.close(0).is_none());
        assert_eq!((bank.bodies.len(), bank.settled, bank.free()), (0, 4, 6));
        bank.give_back(0, 4);
        assert_eq!((bank.needs.len(), bank.settled, bank.free()), (0, 0, 10));
    }
}
