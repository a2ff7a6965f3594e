//! All states that three bodies and their contents can bring a small budget into.

use std::collections::HashSet;

use super::*;

const CAPACITY: u64 = 3;
const BODIES: usize = 3;

/// The bank, and the tasks that read bodies.
#[derive(Clone)]
struct World {
    bank: Bank,
    /// The open bodies, from the oldest on.
    bodies: Vec<Task>,
    /// Bytes of contents that outlive their bodies.
    kept: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Task {
    id: u64,
    /// The request that it waits for.
    waits_for: Option<(u64, bool)>,
}

/// A state without the numbers of its bodies: for each its claim, what it holds, whether it is
/// settled, its request, and whether the request was granted while it waited.
type State = (Vec<(u64, u64, bool, Option<(u64, bool)>, u64)>, u64);

impl World {
    fn state(&self) -> State {
        let of = |task: &Task| {
            let Body { claim, held, is_settled, granted, .. } = &self.bank.bodies[&task.id];
            (*claim, *held, *is_settled, task.waits_for, *granted)
        };
        (self.bodies.iter().map(of).collect(), self.kept)
    }

    /// Returns the worlds that one step of one task leads to.
    fn next(&self) -> Vec<Self> {
        let mut worlds = Vec::new();
        if self.bodies.len() < BODIES {
            for claim in 1..=CAPACITY {
                let mut world = self.clone();
                let id = world.bank.open(claim);
                world.bodies.push(Task { id, waits_for: None });
                worlds.push(world);
            }
        }
        if self.kept > 0 {
            let mut world = self.clone();
            world.kept = 0;
            world.bank.give_back(0, self.kept);
            world.bank.serve();
            worlds.push(world);
        }
        for at in 0..self.bodies.len() {
            let task = self.bodies[at];
            // It is dropped, or it finishes and its content is kept.
            worlds.push(self.closed(at, false));
            if task.waits_for.is_none() && self.bank.bodies[&task.id].held > 0 {
                worlds.push(self.closed(at, true));
            }
            match task.waits_for {
                Some((bytes, is_last)) => worlds.push(self.asked(at, bytes, is_last)),
                None => {
                    for bytes in 1..=CAPACITY {
                        worlds.push(self.asked(at, bytes, false));
                        worlds.push(self.asked(at, bytes, true));
                    }
                }
            }
        }
        worlds
    }

    fn asked(&self, at: usize, bytes: u64, is_last: bool) -> Self {
        let mut world = self.clone();
        let answer = ask(&mut world.bank, self.bodies[at].id, bytes, is_last, true);
        if answer.is_ready() {
            world.bank.serve();
        }
        world.bodies[at].waits_for = answer.is_pending().then_some((bytes, is_last));
        // The body ends in an error.
        if answer == REFUSED { world.closed(at, false) } else { world }
    }

    fn closed(&self, at: usize, is_kept: bool) -> Self {
        let mut world = self.clone();
        let Task { id, .. } = world.bodies.remove(at);
        let Body { held, granted, .. } = &world.bank.bodies[&id];
        // The account returns a grant that its task has not seen.
        let seen = held - granted;
        if is_kept {
            world.kept += seen;
        } else {
            world.bank.give_back(id, seen);
            world.bank.serve();
        }
        world.bank.close(id);
        world.bank.serve();
        world
    }

    fn check(&self, state: &State) {
        let held: u64 = self.bank.bodies.values().map(|body| body.held).sum();
        assert_eq!(held + self.kept + self.bank.free(), CAPACITY, "{state:?}");
        let is_blocked =
            |task: &Task| task.waits_for.is_some() && self.bank.bodies[&task.id].request.is_some();
        let is_deadlock =
            self.kept == 0 && !self.bodies.is_empty() && self.bodies.iter().all(is_blocked);
        assert!(!is_deadlock, "all wait: {state:?}");
    }
}

/// The tasks do what is worst: each asks for any number of bytes at any time, and is dropped at any
/// time. If all open bodies wait and there is no content to drop, no task can ever go on.
#[test]
fn no_order_of_requests_leads_to_a_deadlock_or_over_the_capacity() {
    let start = World { bank: Bank::new(CAPACITY), bodies: Vec::new(), kept: 0 };
    let mut seen = HashSet::from([start.state()]);
    let mut open = vec![start];
    while let Some(world) = open.pop() {
        for next in world.next() {
            let state = next.state();
            if seen.insert(state.clone()) {
                next.check(&state);
                open.push(next);
            }
        }
    }
    assert!(seen.len() > 100_000, "{}", seen.len());
}
