//! Many bodies under one `MemoryBudget`: who waits for whom, and what cancelled bodies leave
//! behind.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use presized::{BufferPool, Collect, CollectError, ContentLength, MemoryBudget, Reader};
use presized_support::drive::{drive, poll_once};
use presized_support::mock::{Mock, MockError, Step};

use crate::bodies::{MIB, body};

/// A body that has received a frame and then waits for its sender.
fn stalled(content: &'static [u8]) -> Mock {
    Mock::new([Step::Data(Bytes::from_static(content)), Step::Hang])
}

#[test]
fn declared_length_does_not_wait_for_room_that_is_kept_free_for_unknown_lengths() {
    let budget = MemoryBudget::new(1000);
    // Both may need the whole budget.
    let unknown = |content| {
        Box::pin(Collect::new(stalled(content), Reader::new(1000).budget(&budget)).bytes())
    };
    let mut slow = unknown(b"one");
    let mut waits = unknown(b"two");
    assert!(poll_once(slow.as_mut()).is_pending());
    assert!(poll_once(waits.as_mut()).is_pending());
    assert_eq!(budget.in_use(), 3);
    let known = |len: usize, budget: &MemoryBudget| {
        let body = Mock::of([vec![b'x'; len]]);
        Collect::new(body, Reader::new(1000).budget(budget))
            .content_length(Some(len as u64))
            .bytes()
    };
    assert_eq!(drive(known(997, &budget)).unwrap().len(), 997);
    assert_eq!(drive(known(997, &budget.fail_fast())).unwrap().len(), 997);
    let error = drive(known(998, &budget.fail_fast())).unwrap_err();
    assert!(matches!(error, CollectError::Budget { requested: 998, .. }), "{error}");
    drop(slow);
    assert_eq!(budget.in_use(), 3, "the second body was served");
}

#[test]
fn stalled_body_of_a_large_limit_leaves_room_for_bodies_of_small_limits() {
    let budget = MemoryBudget::new(1000);
    let mut slow = pin!(Collect::new(stalled(b"slow"), Reader::new(1000).budget(&budget)).bytes());
    assert!(poll_once(slow.as_mut()).is_pending());
    for _ in 0..100 {
        let body = Mock::of([vec![b'x'; 100], vec![b'x'; 100]]);
        let read = Collect::new(body, Reader::new(200).budget(&budget.fail_fast()));
        assert_eq!(drive(read.bytes()).unwrap().len(), 200);
    }
}

#[test]
fn cancelling_ten_thousand_waiting_bodies_in_any_order_leaves_the_others_in_place() {
    let budget = MemoryBudget::new(1 << 20);
    let full = drive(
        Collect::new(body(MIB), Reader::new(1 << 20).budget(&budget))
            .content_length(Some(1 << 20))
            .bytes(),
    );
    let woken = Arc::new(Count::default());
    let read = || {
        let body = stalled(&[b'x'; 512]);
        let read = Collect::new(body, Reader::new(1 << 20).budget(&budget));
        Box::pin(read.content_length(Some(1024)).bytes())
    };
    let waker = Waker::from(woken.clone());
    let mut cx = Context::from_waker(&waker);
    let mut first = read();
    assert!(first.as_mut().poll(&mut cx).is_pending());
    for back_to_front in [false, true] {
        let mut reads: Vec<_> = (0..10_000).map(|_| read()).collect();
        for read in &mut reads {
            assert!(read.as_mut().poll(&mut cx).is_pending());
        }
        let mut refused = pin!(
            Collect::new(stalled(b"x"), Reader::new(1 << 20).budget(&budget.fail_fast())).bytes()
        );
        assert!(poll_once(refused.as_mut()).is_ready());
        if back_to_front {
            reads.reverse();
        }
        drop(reads);
        assert_eq!((budget.in_use(), woken.0.load(SeqCst)), (1 << 20, 0));
    }
    drop(full);
    assert_eq!((budget.in_use(), woken.0.load(SeqCst)), (1024, 1));
}

/// Counts its wakes.
#[derive(Default)]
struct Count(AtomicU64);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn cancelling_two_thousand_waiting_bodies_frees_the_budget() {
    let budget = MemoryBudget::new(256 << 20);
    let read = || {
        let steps = [
            Step::Data(Bytes::from(vec![b'x'; 20_000])),
            Step::Wait,
            Step::Data(Bytes::from(vec![b'x'; 60_000])),
            Step::Hang,
        ];
        Box::pin(Collect::new(Mock::new(steps), Reader::new(100 << 20).budget(&budget)).bytes())
    };
    let mut reads: Vec<_> = (0..2000).map(|_| read()).collect();
    for _ in 0..2 {
        for read in &mut reads {
            assert!(poll_once(read.as_mut()).is_pending());
        }
    }
    // Each cancellation frees a place for others. Comparing all with all would take minutes.
    drop(reads);
    assert_eq!(budget.in_use(), 0);
}

/// A xorshift generator: a seed gives the same bodies on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Each of 400 bodies fits the budget alone. All of them finish on threads that wait for each
/// other, and leave budget and pool unused.
#[test]
fn growing_bodies_under_a_tight_budget_all_finish() {
    let budget = MemoryBudget::new(600_000);
    let pool = BufferPool::new(1 << 20);
    let finished = Arc::new(AtomicU64::new(0));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for seed in 1..=400 {
            let (budget, pool, finished) = (budget.clone(), pool.clone(), finished.clone());
            tasks.spawn(async move {
                let mut random = Random(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15));
                let len = random.below(200_000) as usize;
                let frame = 1 + random.below(20_000) as usize;
                let mut steps = Vec::new();
                for at in (0..len).step_by(frame) {
                    steps.push(Step::Data(Bytes::from(vec![seed as u8; frame.min(len - at)])));
                    if random.below(3) == 0 {
                        steps.push(Step::Wait);
                    }
                }
                let fails = random.below(10) == 0;
                if fails {
                    steps.push(Step::Fail("reset"));
                }
                let mut reader = Reader::new(200_000).budget(&budget);
                let mut content_length = ContentLength::Unknown;
                match random.below(4) {
                    0 => content_length = ContentLength::Exact(len as u64),
                    1 => content_length = ContentLength::Hint(random.below(200_000)),
                    2 => reader = reader.eager(random.below(50_000)),
                    _ => {}
                }
                if random.below(2) == 0 {
                    reader = reader.pool(&pool);
                }
                let collect = Collect::new(Mock::new(steps), reader).content_length(content_length);
                let read: Result<Bytes, CollectError<MockError>> = match random.below(3) {
                    0 => collect.vec().await.map(Bytes::from),
                    1 => match tokio::time::timeout(
                        Duration::from_micros(random.below(3000)),
                        collect.bytes(),
                    )
                    .await
                    {
                        Ok(read) => read,
                        Err(_cancelled) => Ok(Bytes::from(vec![seed as u8; len])),
                    },
                    _ => collect.bytes().await,
                };
                match read {
                    Ok(content) => assert_eq!(content, vec![seed as u8; len]),
                    Err(error) => assert!(fails, "{error}"),
                }
                finished.fetch_add(1, SeqCst);
            });
        }
        while let Some(task) = tokio::time::timeout(Duration::from_secs(60), tasks.join_next())
            .await
            .expect("no body finished within 60 s")
        {
            task.unwrap();
        }
    });
    assert_eq!(finished.load(SeqCst), 400);
    assert_eq!(budget.in_use(), 0);
    assert_eq!(pool.stats().outstanding, 0);
}
