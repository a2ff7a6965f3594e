//! Memory that is used again, lengths that are guessed, and a bound that is shared.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Response};
use presized::{
    BufferPool, Collect, CollectError, ContentLength, LengthHistory, MemoryBudget, Reader,
    ResponseExt,
};
use presized_support::drive::{drive, poll_once};
use presized_support::mock::{Mock, MockError, Step};

const MIB: usize = 1 << 20;

/// A body in frames of 64 KiB, the last of which is smaller.
fn body(len: usize) -> Mock {
    let frames =
        (0..len).step_by(65_536).map(move |at| Bytes::from(vec![b'x'; 65_536.min(len - at)]));
    Mock::new(frames.map(Step::Data))
}

fn known(len: usize, pool: &BufferPool) -> Bytes {
    let reader = Reader::new(u64::MAX).eager(64 << 20).pool(pool);
    drive(Collect::new(body(len), reader).content_length(Some(len as u64)).bytes()).unwrap()
}

#[test]
fn buffer_returns_when_the_last_clone_is_dropped() {
    let pool = BufferPool::new(64 << 20);
    let content = known(6 * MIB, &pool);
    let address = content.as_ptr();
    let clone = content.slice(5..10);
    drop(content);
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (1, 0));
    std::thread::spawn(move || drop(clone)).join().unwrap();
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));
    assert_eq!(known(6 * MIB, &pool).as_ptr(), address);
    assert_eq!((pool.stats().hits, pool.stats().misses), (1, 1));
}

#[test]
fn buffer_returns_on_error_and_on_cancel() {
    let pool = BufferPool::new(64 << 20);
    let read = |tail| {
        let steps = [Step::Data(Bytes::from(vec![b'x'; MIB])), tail];
        Collect::new(Mock::new(steps), Reader::new(u64::MAX).pool(&pool))
            .content_length(Some(6 << 20))
            .bytes()
    };
    let error = drive(read(Step::Fail("reset"))).unwrap_err();
    assert_eq!(pool.stats().outstanding, 1);
    drop(error);
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));

    let mut cancelled = Box::pin(read(Step::Hang));
    assert!(poll_once(cancelled.as_mut()).is_pending());
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (1, 0));
    drop(cancelled);
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));
    assert_eq!((pool.stats().hits, pool.stats().misses), (1, 1));
}

#[test]
fn buffer_returns_when_the_reader_panics() {
    let pool = BufferPool::new(64 << 20);
    let collect = Collect::new(body(6 * MIB), Reader::new(u64::MAX).pool(&pool))
        .content_length(Some(6 << 20))
        .on_progress(|progress| assert!(progress.received < 100_000, "a bug of the caller's"));
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drive(collect.bytes())));
    assert!(panicked.is_err());
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));
    assert_eq!(known(6 * MIB, &pool).len(), 6 * MIB);
}

#[test]
fn partial_content_is_in_the_pool_again_after_it_is_dropped() {
    let pool = BufferPool::new(64 << 20);
    let steps = [Step::Data(Bytes::from(vec![b'x'; 5 * MIB])), Step::Data("yz".into())];
    let read = Collect::new(Mock::new(steps), Reader::new(u64::MAX).pool(&pool))
        .content_length(Some(6 << 20));
    let partial = drive(read.bytes()).unwrap_err().into_partial();
    assert_eq!(partial.len(), 5 * MIB + 2);
    drop(partial);
    assert_eq!(pool.stats().outstanding, 0);
}

#[test]
fn lengths_about_the_same_share_a_buffer() {
    let pool = BufferPool::new(64 << 20);
    // All within one class, which ends at 6.5 MiB.
    for len in [6 * MIB + 1, 6 * MIB + 4000, 6 * MIB + 400_000, 6 * MIB + MIB / 2] {
        let content = known(len, &pool);
        assert_eq!(content.len(), len);
    }
    assert_eq!((pool.stats().hits, pool.stats().misses), (3, 1));
    assert_eq!(pool.stats().idle_bytes, (6 << 20) + (1 << 19));
}

#[test]
fn class_is_clamped_to_the_limit() {
    let pool = BufferPool::new(64 << 20);
    let len = 6 * MIB + 1;
    for _ in 0..2 {
        let read = Collect::new(body(len), Reader::new(len as u64).pool(&pool))
            .content_length(Some(len as u64));
        assert_eq!(drive(read.bytes()).unwrap().len(), len);
        assert_eq!(pool.stats().idle_bytes, len as u64);
    }
    assert_eq!(pool.stats().hits, 1);
}

#[test]
fn outlier_makes_room_for_what_is_used() {
    let pool = BufferPool::new(32 << 20);
    drop(known(30 * MIB, &pool));
    assert_eq!(pool.stats().idle_bytes, 30 << 20);
    drop(known(6 * MIB, &pool));
    assert_eq!(pool.stats().idle_bytes, 6 << 20);
    // One that is larger than all the pool may keep is not kept at all.
    drop(known(33 * MIB, &pool));
    assert_eq!(pool.stats().idle_bytes, 6 << 20);
}

#[test]
fn idle_memory_ages_out_and_can_be_trimmed() {
    let pool = BufferPool::with_max_age(64 << 20, Duration::from_millis(20));
    drop(known(6 * MIB, &pool));
    std::thread::sleep(Duration::from_millis(30));
    // Any use of the pool is the time to notice.
    drop(known(MIB, &pool));
    assert_eq!(pool.stats().idle_bytes, 1 << 20);
    pool.trim();
    assert_eq!((pool.stats().idle, pool.stats().idle_bytes), (0, 0));
}

#[test]
fn pool_of_nothing_works_and_keeps_nothing() {
    let pool = BufferPool::new(0);
    for _ in 0..3 {
        assert_eq!(known(6 * MIB, &pool).len(), 6 * MIB);
    }
    let stats = pool.stats();
    assert_eq!((stats.hits, stats.misses, stats.idle, stats.outstanding), (0, 3, 0, 0));
}

#[test]
fn buffers_dropped_in_any_order_return() {
    let pool = BufferPool::new(64 << 20);
    let mut contents: Vec<_> = (1..=5).map(|len| known(len * MIB, &pool)).collect();
    for index in [2, 0, 2, 1, 0] {
        drop(contents.remove(index));
    }
    assert_eq!((pool.stats().outstanding, pool.stats().idle_bytes), (0, 15 << 20));
}

#[test]
fn what_the_caller_keeps_is_not_taken_from_the_pool() {
    let pool = BufferPool::new(64 << 20);
    let read = || {
        Collect::new(body(MIB), Reader::new(u64::MAX).pool(&pool)).content_length(Some(MIB as u64))
    };
    drive(read().vec()).unwrap();
    drive(read().text()).unwrap();
    drive(read().append_to(&mut Vec::new())).unwrap();
    assert_eq!(pool.stats().misses, 0);
}

#[test]
fn unknown_length_is_read_into_pooled_memory_too() {
    let pool = BufferPool::new(64 << 20);
    for _ in 0..2 {
        let content =
            drive(Collect::new(body(6 * MIB), Reader::new(u64::MAX).pool(&pool)).bytes()).unwrap();
        assert_eq!(content, vec![b'x'; 6 * MIB]);
    }
    let stats = pool.stats();
    assert_eq!((stats.hits, stats.outstanding), (stats.misses, 0));
}

#[test]
fn old_content_is_never_seen() {
    let pool = BufferPool::new(64 << 20);
    let secret = Bytes::from(vec![b'S'; MIB]);
    let read = |first: Bytes, second: Bytes| {
        let steps = [Step::Data(first), Step::Data(second)];
        drive(
            Collect::new(Mock::new(steps), Reader::new(u64::MAX).pool(&pool))
                .content_length(Some(MIB as u64 + 1))
                .bytes(),
        )
    };
    drop(read(secret, "S".into()).unwrap());
    // Ends early, in a buffer that was full of something else.
    let error = read("abc".into(), "d".into()).unwrap_err();
    assert_eq!(pool.stats().hits, 1);
    assert_eq!(error.into_partial(), "abcd");
}

#[test]
fn settled_history_makes_an_unknown_length_one_reservation() {
    let history = LengthHistory::new();
    let read = |len| {
        drive(Collect::new(body(len), Reader::new(u64::MAX).history(&history)).collected()).unwrap()
    };
    let first = read(6 * MIB);
    assert!(first.stats.reservations > 10, "{:?}", first.stats);
    for len in [6 * MIB, 6 * MIB + 1000, 6 * MIB - 1000] {
        let read = read(len);
        assert_eq!(read.content.len(), len);
        assert_eq!(read.stats.reservations, 1);
        assert!(read.stats.peak as f64 <= 1.25 * len as f64, "{:?}", read.stats);
        assert_eq!(read.stats.content_length, ContentLength::Unknown);
    }
}

#[test]
fn history_never_passes_a_bound_and_is_never_an_error() {
    let history = LengthHistory::new();
    history.observe(u64::MAX);
    history.observe(u64::MAX);
    for (limit, eager, len, peak) in
        [(u64::MAX, 1 << 20, 100, MIB), (1 << 20, 16 << 20, 100, MIB), (u64::MAX, 0, 8, 8)]
    {
        let history = history.clone();
        let read =
            Collect::new(body(len), Reader::new(limit).eager(eager).history(&history)).collected();
        let read = drive(read).unwrap();
        assert_eq!(read.content.len(), len);
        // The copy that the slack costs is beside it for a moment.
        assert!(read.stats.peak <= (peak + len) as u64, "{:?}", read.stats);
    }
    let error = drive(Collect::new(body(6), Reader::new(5).history(&history)).bytes()).unwrap_err();
    assert!(matches!(error, CollectError::TooLarge { limit: 5, received: 6, .. }), "{error}");
}

#[test]
fn history_learns_only_from_whole_bodies_without_a_length() {
    let history = LengthHistory::new();
    let read =
        |steps: Vec<Step>| Collect::new(Mock::new(steps), Reader::new(100).history(&history));
    drive(read(vec![Step::Data("hello".into())]).content_length(Some(5)).bytes()).unwrap();
    drive(read(vec![Step::Data("hello".into()), Step::Fail("reset")]).bytes()).unwrap_err();
    assert_eq!(history.expected(), None);
    drive(read(vec![Step::Data("hello".into())]).bytes()).unwrap();
    assert_eq!(history.expected(), Some(5));
}

#[test]
fn budget_is_held_until_the_content_is_dropped() {
    let budget = MemoryBudget::new(10 << 20);
    let read = |len: usize| {
        Collect::new(body(len), Reader::new(10 << 20).budget(&budget))
            .content_length(Some(len as u64))
    };
    let content = drive(read(6 * MIB).bytes()).unwrap();
    assert_eq!(budget.in_use(), 6 << 20);
    let mut waiting = pin!(read(6 * MIB).bytes());
    assert!(poll_once(waiting.as_mut()).is_pending());
    drop(content);
    assert_eq!(drive(waiting).unwrap().len(), 6 * MIB);
    assert_eq!(budget.in_use(), 0);
    // What the caller keeps is his.
    let vec = drive(read(6 * MIB).vec()).unwrap();
    assert_eq!((vec.len(), budget.in_use()), (6 * MIB, 0));
}

#[test]
fn fail_fast_does_not_wait() {
    let budget = MemoryBudget::new(10 << 20);
    let read = |budget: &MemoryBudget| {
        Collect::new(body(6 * MIB), Reader::new(10 << 20).budget(budget))
            .content_length(Some(6 << 20))
            .bytes()
    };
    let content = drive(read(&budget)).unwrap();
    let error = drive(read(&budget.fail_fast())).unwrap_err();
    assert!(
        matches!(
            error,
            CollectError::Budget { requested: 6_291_456, budget: 10_485_760, received: 65_536, .. }
        ),
        "{error}"
    );
    drop(content);
    assert!(drive(read(&budget.fail_fast())).is_ok());
}

#[test]
fn limit_above_the_budget_is_an_error_at_once() {
    let budget = MemoryBudget::new(10);
    for declared in [None, Some(5)] {
        let body = Mock::new([Step::Hang]);
        let read =
            Collect::new(body, Reader::new(11).budget(&budget)).content_length(declared).bytes();
        let error = drive(read).unwrap_err();
        assert!(
            matches!(error, CollectError::Budget { requested: 11, budget: 10, received: 0, .. }),
            "{error}"
        );
    }
    assert!(
        drive(
            Collect::new(Mock::of(["hello"]), Reader::new(10).budget(&budget))
                .content_length(Some(5))
                .bytes()
        )
        .is_ok()
    );
}

#[test]
fn budget_of_nothing_reads_nothing() {
    let budget = MemoryBudget::new(0);
    assert_eq!(
        drive(Collect::new(Mock::default(), Reader::new(0).budget(&budget)).bytes()).unwrap(),
        ""
    );
    let error =
        drive(Collect::new(Mock::of(["x"]), Reader::new(1).budget(&budget)).bytes()).unwrap_err();
    assert!(matches!(error, CollectError::Budget { budget: 0, .. }), "{error}");
}

#[test]
fn body_that_never_fits_fails_instead_of_waiting() {
    // Blocks and the whole that they are joined in are twice the body.
    let budget = MemoryBudget::new(MIB as u64);
    let error = drive(Collect::new(body(MIB), Reader::new(MIB as u64).budget(&budget)).bytes())
        .unwrap_err();
    assert!(matches!(error, CollectError::Budget { .. }), "{error}");
    assert!(!error.into_partial().is_empty());
    assert_eq!(budget.in_use(), 0);
    assert!(
        drive(Collect::new(body(MIB / 3), Reader::new(MIB as u64).budget(&budget)).bytes()).is_ok()
    );
}

#[test]
fn body_over_the_limit_is_refused_without_waiting_for_room() {
    let budget = MemoryBudget::new(10);
    let full = drive(
        Collect::new(Mock::of(["12345678"]), Reader::new(10).budget(&budget))
            .content_length(Some(8))
            .bytes(),
    );
    let mut refused =
        pin!(Collect::new(Mock::of(["hello world"]), Reader::new(5).budget(&budget)).bytes());
    let Poll::Ready(Err(error)) = poll_once(refused.as_mut()) else { panic!("waits") };
    assert!(matches!(error, CollectError::TooLarge { limit: 5, received: 11, .. }), "{error}");
    assert_eq!(error.into_partial(), "");
    drop(full);
    assert_eq!(budget.in_use(), 0);
}

#[test]
fn waiting_is_in_order() {
    let budget = MemoryBudget::new(10);
    let read = |len: usize| {
        let body = Mock::of([vec![b'x'; len]]);
        Collect::new(body, Reader::new(10).budget(&budget)).content_length(Some(len as u64)).bytes()
    };
    let first = drive(read(8)).unwrap();
    let mut large = pin!(read(9));
    let mut small = pin!(read(2));
    assert!(poll_once(large.as_mut()).is_pending());
    // It would fit, and would keep the large one waiting for ever if there were many.
    assert!(poll_once(small.as_mut()).is_pending());
    drop(first);
    assert!(poll_once(small.as_mut()).is_pending());
    let large = match poll_once(large.as_mut()) {
        Poll::Ready(large) => large.unwrap(),
        Poll::Pending => panic!("was not served"),
    };
    drop(large);
    assert!(poll_once(small.as_mut()).is_ready());
}

#[test]
fn cancelled_wait_leaves_no_trace() {
    let budget = MemoryBudget::new(10);
    let read = |len: usize| {
        let body = Mock::of([vec![b'x'; len]]);
        Collect::new(body, Reader::new(10).budget(&budget)).content_length(Some(len as u64)).bytes()
    };
    let first = drive(read(8)).unwrap();
    let mut cancelled = Box::pin(read(9));
    let mut next = pin!(read(2));
    assert!(poll_once(cancelled.as_mut()).is_pending());
    assert!(poll_once(next.as_mut()).is_pending());
    drop(cancelled);
    assert!(poll_once(next.as_mut()).is_ready());
    drop(first);
    assert_eq!(budget.in_use(), 0);
}

#[test]
fn payloads_and_responses_use_what_they_are_given() {
    let pool = BufferPool::new(64 << 20);
    let budget = MemoryBudget::new(64 << 20);
    let history = LengthHistory::new();
    let reader = Reader::new(16 << 20).pool(&pool).budget(&budget).history(&history);
    let blob = drive(reader.blob(Response::new(body(6 * MIB)))).unwrap();
    assert_eq!((blob.len(), history.expected()), (6 * MIB, Some(6_684_672)));
    assert_eq!((pool.stats().outstanding, budget.in_use()), (1, 6 << 20));
    drop(blob);
    let text = drive(reader.text(Response::new(body(6 * MIB)))).unwrap();
    assert_eq!((text.len(), pool.stats().outstanding, budget.in_use()), (6 * MIB, 0, 0));
    let response = Response::new(body(6 * MIB));
    let presized =
        response.collect_presized(&Method::GET, Reader::new(64 << 20).pool(&pool)).into_presized();
    let collected = drive(http_body_util::BodyExt::collect(presized)).unwrap().to_bytes();
    assert_eq!((collected.len(), pool.stats().outstanding), (6 * MIB, 1));
}

#[test]
fn guess_is_not_waited_for_and_is_no_error() {
    let history = LengthHistory::new();
    history.observe(8 << 20);
    let budget = MemoryBudget::new(40 << 20);
    let full = drive(
        Collect::new(body(16 * MIB), Reader::new(16 << 20).budget(&budget))
            .content_length(Some(16 << 20))
            .bytes(),
    );
    let read = |budget: &MemoryBudget| {
        Collect::new(
            Mock::of(["abc", "def"]),
            Reader::new(9 << 20).history(&history).budget(budget),
        )
        .bytes()
    };
    let other = Collect::new(body(16 * MIB), Reader::new(16 << 20).budget(&budget));
    let other = drive(other.content_length(Some(16 << 20)).bytes());
    // 8 MiB are left, which is less than is guessed.
    assert_eq!(drive(read(&budget.fail_fast())).unwrap(), "abcdef");
    let mut waiting = pin!(read(&budget));
    assert!(poll_once(waiting.as_mut()).is_ready());
    drop((full, other));
}

#[test]
fn exact_length_that_never_fits_is_refused_before_the_first_poll() {
    let budget = MemoryBudget::new(100);
    // Sixty bytes in a block, and beside it the hundred that they are copied to.
    let reader = Reader::new(100).eager(60).budget(&budget);
    let read = Collect::new(Mock::new([Step::Hang]), reader).content_length(Some(100));
    let error = drive(read.bytes()).unwrap_err();
    assert!(matches!(error, CollectError::Budget { budget: 100, received: 0, .. }), "{error}");
}

#[test]
fn what_leaves_the_budget_has_no_slack() {
    let budget = MemoryBudget::new(1 << 20);
    let read = || {
        Collect::new(body(1000), Reader::new(400_000).budget(&budget))
            .content_length(ContentLength::Hint(400_000))
    };
    let vec = drive(read().vec()).unwrap();
    assert_eq!((vec.len(), vec.capacity(), budget.in_use()), (1000, 1000, 0));
    let bytes = drive(read().bytes()).unwrap();
    assert_eq!((bytes.len(), budget.in_use()), (1000, 1000));
}

#[test]
fn large_frame_is_handed_over_whatever_is_guessed() {
    let history = LengthHistory::new();
    let frame = Bytes::from(vec![b'x'; MIB]);
    for _ in 0..3 {
        let body = Mock::new([Step::Data(frame.clone())]);
        let content =
            drive(Collect::new(body, Reader::new(u64::MAX).history(&history)).bytes()).unwrap();
        assert_eq!(content.as_ptr(), frame.as_ptr());
    }
}

/// A waker that keeps what a task has, as some executors' do.
struct Owner(Bytes);

impl std::task::Wake for Owner {
    fn wake(self: Arc<Self>) {
        assert!(!self.0.is_empty());
    }
}

#[test]
fn waker_that_owns_a_share_may_be_dropped_at_any_time() {
    let budget = MemoryBudget::new(10);
    let read = |len: usize| {
        let body = Mock::of([vec![b'x'; len]]);
        Collect::new(body, Reader::new(10).budget(&budget)).content_length(Some(len as u64)).bytes()
    };
    for drops_the_future in [true, false] {
        let share = drive(read(8)).unwrap();
        let waker = Waker::from(Arc::new(Owner(share)));
        let mut waiting = Box::pin(read(9));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        // The last owner of the share is the request now.
        drop(waker);
        if drops_the_future {
            drop(waiting);
        } else {
            // The new waker takes the place of the old, which gives the share back; what it
            // makes room for is served at the next poll.
            let _ = poll_once(waiting.as_mut());
            assert!(poll_once(waiting.as_mut()).is_ready());
        }
        assert_eq!(budget.in_use(), 0);
    }
}

#[test]
fn two_thousand_waiting_bodies_are_given_up_one_by_one() {
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
    // Each gives way to others: by a check of all against all this takes minutes.
    drop(reads);
    assert_eq!(budget.in_use(), 0);
}

/// Xorshift: the same bodies on every run of a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Many bodies of all kinds, of which any would fit alone, on threads that wait for
/// each other: all of them end, and the budget and the pool are whole afterwards.
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
            .expect("deadlock")
        {
            task.unwrap();
        }
    });
    assert_eq!(finished.load(SeqCst), 400);
    assert_eq!(budget.in_use(), 0);
    assert_eq!(pool.stats().outstanding, 0);
}
