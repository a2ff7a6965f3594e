//! Bodies that share a budget.

use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

use loom::future::block_on;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering::SeqCst};
use loom::thread;

use crate::bank::Exhausted;
use crate::budget::{Account, MemoryBudget, Share};

/// What is held, counted apart from the budget's own books.
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

/// Waits for what must be granted in the end.
fn take(account: &Account, bytes: u64) -> Share {
    match block_on(poll_fn(|cx| account.poll_share(cx, bytes))) {
        Ok(share) => share,
        Err(Exhausted) => panic!("{bytes} bytes are within the claim"),
    }
}

/// Reads a body that claims `claim` and takes it in these shares, all of them.
fn read(budget: &MemoryBudget, held: &Held, claim: u64, shares: &[u64]) {
    let account = budget.open(claim);
    let mut kept = Vec::new();
    for &bytes in shares {
        kept.push(take(&account, bytes));
        held.add(bytes);
    }
    drop(account);
    for &bytes in shares {
        held.remove(bytes);
    }
}

/// Runs one body a thread, and checks that nothing is left of them.
fn model(budget: u64, bodies: &'static [(u64, &'static [u64])]) {
    let mut builder = loom::model::Builder::new();
    // Two preemptions find nearly all there is to find; without a bound this takes hours.
    builder.preemption_bound = Some(2);
    builder.check(move || {
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
fn two_growing_bodies_that_do_not_fit_together() {
    model(3, &[(3, &[1, 1, 1]), (3, &[1, 1, 1])]);
}

#[test]
fn one_growing_body_and_one_of_known_length() {
    model(3, &[(3, &[1, 2]), (2, &[2])]);
}

/// With room for the first to finish, but not for both others after it: where first come,
/// first served ends with the two others each holding what the other one needs.
#[test]
fn three_bodies_of_unequal_claims() {
    model(5, &[(2, &[1, 1]), (5, &[1, 4]), (5, &[2, 3])]);
}

#[test]
fn three_bodies_one_of_which_takes_all() {
    model(2, &[(2, &[2]), (1, &[1]), (2, &[1, 1])]);
}

#[test]
fn cancelled_wait_is_passed_on() {
    loom::model(|| {
        let budget = MemoryBudget::new(1);
        let first = budget.open(1);
        let held = take(&first, 1);
        // Asks, and is gone before or after it is granted, never having fetched it.
        let cancelled = budget.open(1);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(cancelled.poll_share(&mut cx, 1).is_pending());
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
fn content_is_given_back_by_another_thread() {
    loom::model(|| {
        let budget = MemoryBudget::new(2);
        let account = budget.open(2);
        let content = take(&account, 2);
        // Read to its end, and alive.
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
fn body_that_outgrows_its_claim_never_waits_with_what_it_holds() {
    loom::model(|| {
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
        match account.poll_share(&mut cx, 1) {
            Poll::Ready(Ok(_) | Err(Exhausted)) => {}
            Poll::Pending => panic!("waits for what it did not claim"),
        }
        drop(first);
        drop(account);
        other.join().unwrap();
        assert_eq!(budget.in_use(), 0);
    });
}

#[test]
fn fail_fast_takes_what_is_there_or_fails() {
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
        assert!(account.poll_share(&mut cx, 1).is_ready());
        assert!(account.try_share(2).is_none());
        drop(account);
        other.join().unwrap();
        assert_eq!((budget.in_use(), budget.capacity()), (0, 1));
    });
}
