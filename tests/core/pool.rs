//! `BufferPool`: buffers that are used again.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use bytes::Bytes;
use presized::{BufferPool, Collect, Reader};
use presized_support::drive::{drive, poll_once};
use presized_support::mock::{Mock, Step};

use crate::bodies::{MIB, body};

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
fn buffer_returns_to_the_pool_after_error_and_cancellation() {
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
fn buffer_returns_to_the_pool_after_a_panic() {
    let pool = BufferPool::new(64 << 20);
    let collect = Collect::new(body(6 * MIB), Reader::new(u64::MAX).pool(&pool))
        .content_length(Some(6 << 20))
        .on_progress(|progress| {
            assert!(progress.received < 100_000, "a bug in the callback");
            ControlFlow::Continue(())
        });
    let panicked = catch_unwind(AssertUnwindSafe(|| drive(collect.bytes())));
    assert!(panicked.is_err());
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));
    assert_eq!(known(6 * MIB, &pool).len(), 6 * MIB);
}

#[test]
fn buffer_of_partial_content_returns_when_it_is_dropped() {
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
fn lengths_of_one_size_class_reuse_one_buffer() {
    let pool = BufferPool::new(64 << 20);
    // All lengths are in the size class that ends at 6.5 MiB.
    for len in [6 * MIB + 1, 6 * MIB + 4000, 6 * MIB + 400_000, 6 * MIB + MIB / 2] {
        let content = known(len, &pool);
        assert_eq!(content.len(), len);
    }
    assert_eq!((pool.stats().hits, pool.stats().misses), (3, 1));
    assert_eq!(pool.stats().idle_bytes, (6 << 20) + (1 << 19));
}

#[test]
fn size_class_is_clamped_to_the_limit() {
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
fn unused_large_buffer_makes_room_for_used_ones() {
    let pool = BufferPool::new(32 << 20);
    drop(known(30 * MIB, &pool));
    assert_eq!(pool.stats().idle_bytes, 30 << 20);
    drop(known(6 * MIB, &pool));
    assert_eq!(pool.stats().idle_bytes, 6 << 20);
    // A buffer larger than the capacity of the pool is not kept.
    drop(known(33 * MIB, &pool));
    assert_eq!(pool.stats().idle_bytes, 6 << 20);
}

#[test]
fn idle_buffers_age_out_and_can_be_trimmed() {
    let pool = BufferPool::with_max_age(64 << 20, Duration::from_millis(20));
    drop(known(6 * MIB, &pool));
    std::thread::sleep(Duration::from_millis(30));
    // The pool checks the age of its buffers whenever it is used.
    drop(known(MIB, &pool));
    assert_eq!(pool.stats().idle_bytes, 1 << 20);
    pool.trim();
    assert_eq!((pool.stats().idle, pool.stats().idle_bytes), (0, 0));
}

#[test]
fn pool_of_zero_bytes_keeps_no_buffer() {
    let pool = BufferPool::new(0);
    for _ in 0..3 {
        assert_eq!(known(6 * MIB, &pool).len(), 6 * MIB);
    }
    let stats = pool.stats();
    assert_eq!((stats.hits, stats.misses, stats.idle, stats.outstanding), (0, 3, 0, 0));
}

#[test]
fn buffers_return_in_any_order() {
    let pool = BufferPool::new(64 << 20);
    let mut contents: Vec<_> = (1..=5).map(|len| known(len * MIB, &pool)).collect();
    for index in [2, 0, 2, 1, 0] {
        drop(contents.remove(index));
    }
    assert_eq!((pool.stats().outstanding, pool.stats().idle_bytes), (0, 15 << 20));
}

#[test]
fn owned_forms_do_not_use_the_pool() {
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
fn body_of_unknown_length_uses_the_pool() {
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
fn reused_buffer_never_exposes_old_content() {
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
    // The second body ends early in a buffer that was full of other content.
    let error = read("abc".into(), "d".into()).unwrap_err();
    assert_eq!(pool.stats().hits, 1);
    assert_eq!(error.into_partial(), "abcd");
}
