//! Models of threads that share a pool.

use std::time::Duration;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use loom::thread;

use crate::pool::{BufferPool, POOLED_FROM};

const SIZE: usize = POOLED_FROM;

#[test]
fn every_buffer_returns_once() {
    loom::model(|| {
        let pool = BufferPool::new(2 * SIZE as u64);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let pool = pool.clone();
                thread::spawn(move || {
                    for _ in 0..2 {
                        let buffer = pool.take(SIZE..=SIZE).unwrap();
                        assert_eq!((buffer.len(), buffer.capacity()), (0, SIZE));
                        pool.put(buffer);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let stats = pool.stats();
        assert_eq!(stats.hits + stats.misses, 4);
        assert_eq!((stats.outstanding, stats.outstanding_bytes), (0, 0));
        assert_eq!(stats.idle as u64, stats.misses);
        assert_eq!(stats.idle_bytes, stats.idle * SIZE as u64);
    });
}

#[test]
fn idle_bytes_never_exceed_the_maximum() {
    loom::model(|| {
        let pool = BufferPool::new(SIZE as u64);
        let [first, second] = [0, 1].map(|_| pool.take(SIZE..=SIZE).unwrap());
        let returns = thread::spawn({
            let pool = pool.clone();
            move || pool.put(first)
        });
        pool.put(second);
        assert!(pool.stats().idle_bytes <= SIZE as u64);
        returns.join().unwrap();
        assert_eq!((pool.stats().idle, pool.stats().outstanding), (1, 0));
    });
}

#[test]
fn one_idle_buffer_is_given_to_one_of_two_threads() {
    loom::model(|| {
        let pool = BufferPool::with_max_age(4 * SIZE as u64, Duration::from_secs(3600));
        pool.put(pool.take(SIZE..=SIZE).unwrap());
        let taken = Arc::new(AtomicUsize::new(0));
        let take = |pool: BufferPool, taken: Arc<AtomicUsize>| {
            let buffer = pool.take(SIZE..=SIZE).unwrap();
            taken.fetch_add(1, SeqCst);
            buffer
        };
        let other = thread::spawn({
            let (pool, taken) = (pool.clone(), taken.clone());
            move || take(pool, taken)
        });
        let mine = take(pool.clone(), taken.clone());
        let theirs = other.join().unwrap();
        assert_ne!(mine.as_ptr(), theirs.as_ptr());
        assert_eq!((pool.stats().hits, pool.stats().misses, taken.load(SeqCst)), (1, 2, 2));
        pool.put(mine);
        pool.put(theirs);
        pool.trim();
        assert_eq!((pool.stats().idle, pool.stats().idle_bytes), (0, 0));
    });
}
