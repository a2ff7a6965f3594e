//! The memory of bodies that share a pool, a history or a budget.

use std::task::{Context, Poll, Waker};

use presized::{BufferPool, Collect, LengthHistory, MemoryBudget, Reader};
use presized_support::drive::drive;
use presized_support::ledger::Ledger;

use crate::{Frames, KIB, MIB, PATTERN, alone, body, count};

#[test]
fn warm_pool_reads_without_a_large_allocation() {
    let _alone = alone();
    let pool = BufferPool::new(256 << 20);
    for len in [64 * KIB, 6 * MIB, 16 * MIB, 64 * MIB] {
        for declared in [Some(len as u64), None] {
            let history = LengthHistory::new();
            let read = || {
                let reader = Reader::new(u64::MAX).eager(72 << 20).pool(&pool).history(&history);
                Collect::new(body(len, 64 * KIB - 1), reader).content_length(declared).bytes()
            };
            // The first read records the length, and the second puts a buffer into the pool.
            drop(drive(read()).unwrap());
            drop(drive(read()).unwrap());
            let (content, spent) = count(read());
            assert_eq!(content.unwrap(), PATTERN[..len]);
            assert_eq!(spent.large, 0, "{len} {declared:?}: {spent:?}");
            assert!(spent.bytes < 512, "{len} {declared:?}: {spent:?}");
        }
    }
    assert_eq!(pool.stats().outstanding, 0);
}

#[test]
fn settled_history_peaks_at_most_a_quarter_above_the_body() {
    let _alone = alone();
    let history = LengthHistory::new();
    let len = 6 * MIB;
    let read =
        || Collect::new(body(len, 16 * KIB), Reader::new(u64::MAX).history(&history)).bytes();
    let (_, spent) = count(read());
    assert!(spent.peak as f64 <= 2.05 * len as f64, "{spent:?}");
    let (content, spent) = count(read());
    assert_eq!(content.unwrap().len(), len);
    assert_eq!(spent.large, 1);
    assert!(spent.peak as f64 <= 1.25 * len as f64, "{spent:?}");
}

/// Sixty bodies of known and unknown length wait for each other in one thread. The allocated memory
/// stays within the budget, except for at most 1 KiB of bookkeeping for each body.
#[test]
fn budget_bounds_the_allocated_memory() {
    let _alone = alone();
    const BUDGET: u64 = 3 << 20;
    const BODIES: usize = 60;
    let budget = MemoryBudget::new(BUDGET);
    // The futures belong to the caller and are allocated before the count.
    let mut reads: Vec<_> = (0..BODIES)
        .map(|index| {
            let len = (index * 97_001) % (1200 * KIB) + 1;
            let body = Frames { pauses: true, ..body(len, 16 * KIB) };
            let reader = Reader::new(1250 << 10).eager(64 << 10).budget(&budget);
            let collect = if index % 3 == 0 {
                Collect::new(body, reader.eager(2 << 20)).content_length(Some(len as u64))
            } else {
                Collect::new(body, reader)
            };
            (len, Some(Box::pin(collect.bytes())))
        })
        .collect();
    let (rounds, spent) = Ledger::measure(|| {
        let mut cx = Context::from_waker(Waker::noop());
        for round in 1..10_000 {
            let mut left = 0;
            for (len, read) in &mut reads {
                let Some(future) = read else { continue };
                match future.as_mut().poll(&mut cx) {
                    Poll::Ready(content) => {
                        assert_eq!(content.unwrap(), PATTERN[..*len]);
                        *read = None;
                    }
                    Poll::Pending => left += 1,
                }
            }
            if left == 0 {
                return round;
            }
        }
        panic!("some bodies are not finished after 10,000 rounds");
    });
    assert!(rounds > 20, "no body had to wait: {rounds} rounds");
    assert!(spent.peak <= BUDGET + BODIES as u64 * 1024, "{spent:?}");
    assert!(spent.peak > BUDGET / 2, "less than half of the budget was used: {spent:?}");
    assert_eq!(budget.in_use(), 0);
}
