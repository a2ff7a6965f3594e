//! `MemoryBudget`: a bound on memory that bodies share.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use http::{Method, Response};
use presized::{
    BufferPool, Collect, CollectError, ContentLength, LengthHistory, MemoryBudget, Reader,
    ResponseExt,
};
use presized_support::drive::{drive, poll_once};
use presized_support::mock::{Mock, Step};

use crate::bodies::{MIB, body};

#[test]
fn budget_share_is_held_until_the_content_is_dropped() {
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
    // A `Vec` belongs to the caller and holds no share.
    let vec = drive(read(6 * MIB).vec()).unwrap();
    assert_eq!((vec.len(), budget.in_use()), (6 * MIB, 0));
}

#[test]
fn fail_fast_budget_fails_instead_of_waiting() {
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
fn limit_above_the_budget_fails_before_polling() {
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
fn budget_of_zero_bytes_accepts_only_empty_bodies() {
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
fn body_that_never_fits_the_budget_fails_instead_of_waiting() {
    // The buffer and the larger one that replaces it do not fit together.
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

/// A buffer of 256 KiB and one of four times the size do not fit together.
#[test]
fn body_of_unknown_length_is_read_if_the_budget_has_no_room_to_quadruple_its_buffer() {
    let budget = MemoryBudget::new((5 << 18) - 1);
    for budget in [budget.clone(), budget.fail_fast()] {
        let read = Collect::new(body(600_000), Reader::new(1 << 20).budget(&budget));
        let content = drive(read.bytes()).unwrap();
        assert_eq!(content, vec![b'x'; 600_000]);
        drop(content);
        assert_eq!(budget.in_use(), 0);
    }
}

#[test]
fn body_over_the_limit_fails_without_waiting_for_the_budget() {
    let budget = MemoryBudget::new(10);
    let full = drive(
        Collect::new(Mock::of(["12345678"]), Reader::new(10).budget(&budget))
            .content_length(Some(8))
            .bytes(),
    );
    let mut refused =
        pin!(Collect::new(Mock::of(["hello world"]), Reader::new(5).budget(&budget)).bytes());
    let Poll::Ready(Err(error)) = poll_once(refused.as_mut()) else {
        panic!("the read waits for the budget")
    };
    assert!(matches!(error, CollectError::TooLarge { limit: 5, received: 11, .. }), "{error}");
    assert_eq!(error.into_partial(), "");
    drop(full);
    assert_eq!(budget.in_use(), 0);
}

#[test]
fn waiting_bodies_are_served_in_order() {
    let budget = MemoryBudget::new(10);
    let read = |len: usize| {
        let body = Mock::of([vec![b'x'; len]]);
        Collect::new(body, Reader::new(10).budget(&budget)).content_length(Some(len as u64)).bytes()
    };
    let first = drive(read(8)).unwrap();
    let mut large = pin!(read(9));
    let mut small = pin!(read(2));
    assert!(poll_once(large.as_mut()).is_pending());
    // The small body fits. Many of them would starve the large one if they were served first.
    assert!(poll_once(small.as_mut()).is_pending());
    drop(first);
    assert!(poll_once(small.as_mut()).is_pending());
    let large = match poll_once(large.as_mut()) {
        Poll::Ready(large) => large.unwrap(),
        Poll::Pending => panic!("the large body was not served"),
    };
    drop(large);
    assert!(poll_once(small.as_mut()).is_ready());
}

#[test]
fn cancelled_wait_leaves_the_queue() {
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
fn payloads_and_presized_responses_use_pool_budget_and_history() {
    let pool = BufferPool::new(64 << 20);
    let budget = MemoryBudget::new(64 << 20);
    let history = LengthHistory::new();
    let reader = Reader::new(16 << 20).pool(&pool).budget(&budget).history(&history);
    let blob = drive(reader.blob(Response::new(body(6 * MIB)))).unwrap();
    assert_eq!((blob.len(), history.expected()), (6 * MIB, Some(6_684_672)));
    // The buffer grew to 7 MiB.
    assert_eq!((pool.stats().outstanding, budget.in_use()), (1, 7 << 20));
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
fn prediction_beyond_the_free_budget_neither_waits_nor_fails() {
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
    // 8 MiB are free, which is less than the prediction of 8.5 MiB.
    assert_eq!(drive(read(&budget.fail_fast())).unwrap(), "abcdef");
    let mut waiting = pin!(read(&budget));
    assert!(poll_once(waiting.as_mut()).is_ready());
    drop((full, other));
}

#[test]
fn exact_length_that_never_fits_the_budget_is_refused_before_polling() {
    let budget = MemoryBudget::new(100);
    // A buffer of 60 bytes exists beside the buffer of 100 bytes to which it grows.
    let reader = Reader::new(100).eager(60).budget(&budget);
    let read = Collect::new(Mock::new([Step::Hang]), reader).content_length(Some(100));
    let error = drive(read.bytes()).unwrap_err();
    assert!(matches!(error, CollectError::Budget { budget: 100, received: 0, .. }), "{error}");
}

#[test]
fn content_read_under_a_budget_has_no_unused_capacity() {
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

/// A waker that owns content, as a waker of an executor can own its task.
struct Owner(Bytes);

impl Wake for Owner {
    fn wake(self: Arc<Self>) {
        assert!(!self.0.is_empty());
    }
}

#[test]
fn bytes_of_a_failed_read_count_until_they_are_dropped() {
    // The buffer is full, or has to be trimmed. It is of the allocator, or of a pool.
    for (received, declared) in [(5 * MIB, 6 << 20), (MIB, 6 << 20), (10, 6 << 20)] {
        for pool in [None, Some(BufferPool::new(64 << 20))] {
            let budget = MemoryBudget::new(10 << 20);
            let mut reader = Reader::new(10 << 20).budget(&budget);
            if let Some(pool) = &pool {
                reader = reader.pool(pool);
            }
            // Two frames, because a large first one is handed over and does not count.
            let frames = [vec![b'x'; 5], vec![b'x'; received - 5]];
            let body = Mock::of(frames.iter().map(Vec::as_slice));
            let read = Collect::new(body, reader).content_length(Some(declared));
            let error = drive(read.bytes()).unwrap_err();
            assert!(budget.in_use() >= declared, "{received}: {}", budget.in_use());
            let partial = error.into_partial();
            assert_eq!(partial.len(), received);
            let counted = received as u64..=received as u64 + received as u64 / 4;
            let is_trimmed = counted.contains(&budget.in_use());
            assert!(is_trimmed || pool.is_some(), "{received}: {}", budget.in_use());
            assert!(budget.in_use() >= received as u64, "{received}: {}", budget.in_use());
            let clone = partial.clone();
            drop(partial);
            assert_ne!(budget.in_use(), 0);
            drop(clone);
            assert_eq!(budget.in_use(), 0);
        }
    }
}

#[test]
fn waker_that_owns_a_budget_share_can_be_dropped_while_waiting() {
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
        // The waiting request is the last owner of the share now.
        drop(waker);
        if drops_the_future {
            drop(waiting);
        } else {
            // The new waker replaces the old one, which frees the share. The next poll serves
            // the request.
            let _ = poll_once(waiting.as_mut());
            assert!(poll_once(waiting.as_mut()).is_ready());
        }
        assert_eq!(budget.in_use(), 0);
    }
}
