//! The accounts of a memory budget: which request is granted, and which waits.
//!
//! The documentation of `MemoryBudget` has the rules and the reason why they are safe. The cost of
//! a call grows with the number of different claims, and not with the number of bodies.

use std::collections::{BTreeMap, BTreeSet};
use std::task::{Poll, Waker};

use crate::reserve::size_class;

/// The accounts of one budget. Sizes are in bytes.
#[derive(Default)]
#[cfg_attr(test, derive(Clone))]
pub(crate) struct Bank {
    capacity: u64,
    free: u64,
    /// The number of the youngest body.
    last: u64,
    /// The bodies that are being read. A lower number is older.
    bodies: BTreeMap<u64, Body>,
    /// The growing bodies, by claim.
    classes: BTreeMap<u64, Class>,
    /// Bodies that hold nothing and wait, and grow after their request.
    first: BTreeSet<u64>,
    /// Bodies that hold nothing and wait, and need no more after their request.
    only: BTreeSet<u64>,
}

/// Growing bodies of one claim: they hold memory and may need more.
#[derive(Default)]
#[cfg_attr(test, derive(Clone))]
struct Class {
    held: u64,
    /// The bytes that each holds.
    bodies: BTreeMap<u64, u64>,
    waiting: BTreeSet<u64>,
}

#[derive(Default)]
#[cfg_attr(test, derive(Clone))]
struct Body {
    claim: u64,
    held: u64,
    /// It needs no more than it holds.
    is_settled: bool,
    request: Option<Request>,
    /// Bytes of a request that was granted and not polled again.
    granted: u64,
}

#[cfg_attr(test, derive(Clone))]
pub(crate) struct Request {
    pub(crate) bytes: u64,
    /// The body needs no more after it.
    pub(crate) is_last: bool,
    /// `None` if the body does not wait.
    pub(crate) waker: Option<Waker>,
}

/// The budget has no room now, and the body does not wait.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Bank {
    pub(crate) fn new(capacity: u64) -> Self {
        Self { capacity, free: capacity, ..Self::default() }
    }

    pub(crate) fn free(&self) -> u64 {
        self.free
    }

    /// Opens the account of a body that claims at most this many bytes. They are rounded up, so
    /// that there are at most eight claims from one power of two to the next.
    pub(crate) fn open(&mut self, claim: u64) -> u64 {
        self.last += 1;
        let claim = size_class(claim).min(self.capacity);
        self.bodies.insert(self.last, Body { claim, ..Body::default() });
        self.last
    }

    /// Requests more bytes, or repeats that request. A waker that is not needed goes to `stale`, so
    /// that the caller drops it without the lock. After a grant, the caller serves the others.
    pub(crate) fn request(
        &mut self,
        id: u64,
        mut request: Request,
        stale: &mut Option<Waker>,
    ) -> Poll<Result<(), Exhausted>> {
        let refused = Poll::Ready(Err(Exhausted));
        let Some(body) = self.bodies.get_mut(&id) else { return refused };
        if let Some(waiting) = &mut body.request {
            // A request without a waker leaves the waiting one in place.
            if request.waker.is_some() {
                *stale = std::mem::replace(&mut waiting.waker, request.waker);
            }
            return Poll::Pending;
        }
        if std::mem::take(&mut body.granted) > 0 {
            return Poll::Ready(Ok(()));
        }
        let (holds, total) = (body.held > 0, body.held.saturating_add(request.bytes));
        let is_outgrown = body.is_settled || total > body.claim;
        request.is_last |= is_outgrown || total == body.claim;
        // A body that holds memory and waits for more than it claimed could deadlock.
        let can_wait = request.waker.is_some() && !(holds && is_outgrown);
        let is_free = request.bytes <= self.free;
        if total > self.capacity || !(is_free || can_wait) {
            return refused;
        }
        // A growing body that needs no more makes room for the others.
        let is_granted = holds && request.is_last && is_free;
        self.change(id, |body| body.request = Some(request));
        if is_granted || self.next() == Some(id) {
            *stale = self.grant(id);
            self.change(id, |body| body.granted = 0);
            return Poll::Ready(Ok(()));
        }
        if can_wait {
            return Poll::Pending;
        }
        let withdrawn = self.change(id, |body| body.request.take()).flatten();
        *stale = withdrawn.and_then(|request| request.waker);
        refused
    }

    /// Closes the account of a body that is finished or given up. Returns the waker of a request
    /// that is withdrawn.
    pub(crate) fn close(&mut self, id: u64) -> Option<Waker> {
        let request = self.change(id, |body| {
            body.held = 0;
            body.request.take()
        });
        self.free += self.bodies.remove(&id)?.granted;
        request.flatten()?.waker
    }

    /// Returns `bytes` of the body, or of its content, to the budget.
    pub(crate) fn give_back(&mut self, id: u64, bytes: u64) {
        self.free += bytes;
        self.change(id, |body| body.held -= bytes);
    }

    /// Grants the requests that can be granted, and returns the wakers to wake.
    pub(crate) fn serve(&mut self) -> Vec<Waker> {
        let mut served = Vec::new();
        while let Some(id) = self.next() {
            served.extend(self.grant(id));
        }
        served
    }

    /// Returns the waiting body whose request is granted next.
    fn next(&self) -> Option<u64> {
        let (mut any_grows, mut any_lacks_bytes, mut smaller) = (false, false, u64::MAX);
        for (class, oldest, room) in self.rooms() {
            if let Some((id, request)) = self.oldest(&class.waiting) {
                let room = if id == oldest { smaller } else { room };
                let is_safe = request.is_last || request.bytes <= room;
                if is_safe && request.bytes <= self.free {
                    return Some(id);
                }
                (any_grows, any_lacks_bytes) = (true, any_lacks_bytes || is_safe);
            }
            smaller = room;
        }
        let first = self.oldest(&self.first).filter(|_| !any_grows);
        let first = first.filter(|&(id, request)| request.bytes <= self.room(id));
        let either = [first, self.oldest(&self.only)].into_iter().flatten();
        let (id, request) = either.min_by_key(|&(id, _)| id)?;
        (!any_lacks_bytes && request.bytes <= self.free).then_some(id)
    }

    /// Returns the oldest body of a queue.
    fn oldest(&self, queue: &BTreeSet<u64>) -> Option<(u64, &Request)> {
        let &id = queue.first()?;
        Some((id, self.bodies.get(&id)?.request.as_ref()?))
    }

    /// Returns the classes from the smallest claim on, each with its oldest body, and how many
    /// bytes another body can get. The oldest can get as many as others of the class before.
    fn rooms(&self) -> impl Iterator<Item = (&Class, u64, u64)> {
        let mut held: u64 = self.classes.values().map(|class| class.held).sum();
        let mut room = u64::MAX;
        self.classes.iter().filter_map(move |(claim, class)| {
            let (&oldest, own) = class.bodies.first_key_value()?;
            room = room.min((self.capacity - claim).saturating_sub(held - own));
            held -= class.held;
            Some((class, oldest, room))
        })
    }

    /// Returns how many bytes a body that holds nothing can get.
    fn room(&self, id: u64) -> u64 {
        let Some(&Body { claim, .. }) = self.bodies.get(&id) else { return 0 };
        let held: u64 = self.classes.range(claim..).map(|(_, class)| class.held).sum();
        let class = self.classes.get(&claim);
        let has_elder = class.is_some_and(|class| class.bodies.range(..id).next().is_some());
        let rooms = self.rooms().take(self.classes.range(..=claim).count());
        let room = rooms.last().map_or(u64::MAX, |(.., room)| room);
        if has_elder || held <= self.capacity - claim { room } else { 0 }
    }

    /// Grants the request of a body, and returns its waker.
    fn grant(&mut self, id: u64) -> Option<Waker> {
        let request = self.change(id, |body| {
            let request = body.request.take()?;
            body.held += request.bytes;
            body.is_settled = request.is_last;
            body.granted = request.bytes;
            Some(request)
        })??;
        self.free -= request.bytes;
        request.waker
    }

    /// Changes a body, and moves it to its class and its queue.
    fn change<T>(&mut self, id: u64, change: impl FnOnce(&mut Body) -> T) -> Option<T> {
        let place = |body: &Body| {
            let grows = Some(body.held).filter(|&held| held > 0 && !body.is_settled);
            (grows, body.request.as_ref().map(|request| request.is_last))
        };
        let body = self.bodies.get_mut(&id)?;
        let (grew, waited) = place(body);
        let changed = change(body);
        // A body that holds nothing can grow again.
        body.is_settled &= body.held > 0;
        let ((grows, waits), claim) = (place(body), body.claim);
        if (grew.is_some(), waited) != (grows.is_some(), waits) {
            waited.map(|is_last| self.queue(claim, grew, is_last).remove(&id));
            waits.map(|is_last| self.queue(claim, grows, is_last).insert(id));
        }
        if grew != grows {
            let class = self.classes.entry(claim).or_default();
            class.held = class.held - grew.unwrap_or(0) + grows.unwrap_or(0);
            match grows {
                Some(held) => class.bodies.insert(id, held),
                None => class.bodies.remove(&id),
            };
            if class.bodies.is_empty() {
                self.classes.remove(&claim);
            }
        }
        Some(changed)
    }

    fn queue(&mut self, claim: u64, grows: Option<u64>, is_last: bool) -> &mut BTreeSet<u64> {
        match grows {
            Some(_) => &mut self.classes.entry(claim).or_default().waiting,
            None if is_last => &mut self.only,
            None => &mut self.first,
        }
    }
}

#[cfg(test)]
mod tests;
