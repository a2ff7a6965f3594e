//! Models of bodies that share a budget.

use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

use loom::future::block_on;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering::SeqCst};
use loom::thread;

use crate::bank::Exhausted;
use crate::budget::{Account, MemoryBudget, Share};

/// Counts the bytes that are held, independently of the budget.
struct Held {
    bytes: AtomicU64,
    budget: u64,
}

impl Held {
    fn add(&self, bytes: u64) {
        let now = self.bytes.fetch_add(bytes, SeqCst) + bytes;
        assert!(now <= self.budget, "{now} bytes held of {}", self.budget);
    }

    fn remove(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, SeqCst);
    }
}

/// Waits for a share within the claim.
fn take(account: &Account, bytes: u64) -> Share {
    take_one(account, bytes, false)
}

fn take_one(account: &Account, bytes: u64, is_last: bool) -> Share {
    match block_on(poll_fn(|cx| account.poll_share(cx, bytes, is_last))) {
        Ok(share) => share,
        Err(Exhausted) => panic!("{bytes} bytes are within the claim"),
    }
}

/// Reads a body that claims `claim` bytes and takes all of these shares.
fn read(budget: &MemoryBudget, held: &Held, claim: u64, shares: &[u64]) {
    let account = budget.open(claim);
    let mut kept = Vec::new();
    for (index, &bytes) in shares.iter().enumerate() {
        kept.push(take_one(&account, bytes, index + 1 == shares.len()));
        held.add(bytes);
    }
    drop(account);
    for &bytes in shares {
        held.remove(bytes);
    }
}

/// Runs `model` in the interleavings with at most two preemptions.
fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    // Two preemptions find nearly all there is to find; without a bound this takes hours.
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// Runs each body in a thread of its own and checks that it returns all its bytes.
fn model(budget: u64, bodies: &'static [(u64, &'static [u64])]) {
    check(move || {
        let held = Arc::new(Held { bytes: AtomicU64::new(0), budget });
        let budget = MemoryBudget::new(budget);
        let threads: Vec<_> = bodies
            .iter()
            .map(|&(claim, shares)| {
                let (budget, held) = (budget.clone(), held.clone());
                thread::spawn(move || read(&budget, &held, claim, shares))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(budget.in_use(), 0);
    });
}

#[test]
fn two_growing_bodies_that_do_not_fit_together_both_finish() {
    model(3, &[(3, &[1, 1, 1]), (3, &[1, 1, 1])]);
}

#[test]
fn growing_body_and_body_of_known_length_both_finish() {
    model(3, &[(3, &[1, 2]), (2, &[2])]);
}

/// The first body fits, but not both others after it. If bodies were served in the order of their
/// requests, the two others would deadlock: each would hold bytes that the other needs.
#[test]
fn three_bodies_of_unequal_claims_all_finish() {
    model(5, &[(2, &[1, 1]), (5, &[1, 4]), (5, &[2, 3])]);
}

#[test]
fn growing_body_and_bodies_that_need_one_share_all_finish() {
    model(3, &[(3, &[1, 1]), (3, &[2]), (3, &[2])]);
}

/// The first and the second body must not hold two bytes at the same time, unless it is the last
/// share of one.
#[test]
fn growing_bodies_whose_last_shares_make_room_both_finish() {
    model(4, &[(3, &[1, 1]), (4, &[1, 2])]);
}

#[test]
fn three_bodies_finish_when_one_takes_the_whole_budget() {
    model(2, &[(2, &[2]), (1, &[1]), (2, &[1, 1])]);
}

#[test]
fn cancelled_request_wakes_the_next_body() {
    loom::model(|| {
        let budget = MemoryBudget::new(1);
        let first = budget.open(1);
        let held = take(&first, 1);
        // Dropped before or after its request is granted, without taking the share.
        let cancelled = budget.open(1);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(cancelled.poll_share(&mut cx, 1, false).is_pending());
        let waiting = thread::spawn({
            let budget = budget.clone();
            move || {
                let account = budget.open(1);
                drop(take(&account, 1));
            }
        });
        let cancels = thread::spawn(move || drop(cancelled));
        drop(held);
        cancels.join().unwrap();
        waiting.join().unwrap();
        drop(first);
        assert_eq!(budget.in_use(), 0);
    });
}

#[test]
fn content_dropped_by_another_thread_returns_its_bytes() {
    loom::model(|| {
        let budget = MemoryBudget::new(2);
        let account = budget.open(2);
        let content = take(&account, 2);
        // The body is complete and its content is still in use.
        drop(account);
        let reader = thread::spawn(move || drop(content));
        let next = budget.open(1);
        drop(take(&next, 1));
        drop(next);
        reader.join().unwrap();
        assert_eq!(budget.in_use(), 0);
    });
}

#[test]
fn body_that_outgrows_its_claim_never_waits() {
    check(|| {
        let budget = MemoryBudget::new(2);
        let other = thread::spawn({
            let budget = budget.clone();
            move || {
                let account = budget.open(2);
                let first = take(&account, 1);
                let second = take(&account, 1);
                drop((first, second));
            }
        });
        let account = budget.open(1);
        let first = take(&account, 1);
        let mut cx = Context::from_waker(Waker::noop());
        match account.poll_share(&mut cx, 1, false) {
            Poll::Ready(Ok(_) | Err(Exhausted)) => {}
            Poll::Pending => panic!("a body waits for more than it claimed"),
        }
        drop(first);
        drop(account);
        other.join().unwrap();
        assert_eq!(budget.in_use(), 0);
    });
}

#[test]
fn fail_fast_handle_never_waits() {
    loom::model(|| {
        let budget = MemoryBudget::new(1);
        let other = thread::spawn({
            let budget = budget.clone();
            move || {
                let account = budget.open(1);
                drop(take(&account, 1));
            }
        });
        let account = budget.fail_fast().open(1);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(account.poll_share(&mut cx, 1, false).is_ready());
        assert!(account.try_share(2, false).is_none());
        drop(account);
        other.join().unwrap();
        assert_eq!((budget.in_use(), budget.capacity()), (0, 1));
    });
}
