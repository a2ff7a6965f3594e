//! `PooledWriter`: the memory of content that is serialised before it is sent.

use std::io::{ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use presized::{BufferPool, LengthHistory};
use presized_support::ledger::Ledger;

const MIB: usize = 1 << 20;

/// Returns a value of 6 MiB of JSON, which a serialiser writes in many small pieces.
fn large_value() -> Vec<u64> {
    vec![12_345_678; 6 * MIB / 9]
}

#[test]
fn predicted_content_takes_one_buffer_that_does_not_grow() {
    let _alone = Ledger::alone();
    let (pool, history) = (BufferPool::new(64 << 20), LengthHistory::new());
    let value = large_value();
    let serialise = || {
        let mut writer = pool.writer(history.expected());
        serde_json::to_writer(&mut writer, &value).unwrap();
        let content = writer.into_bytes();
        history.observe(content.len() as u64);
        content
    };
    let content = serialise();
    assert_eq!(content, serde_json::to_vec(&value).unwrap());
    drop(content);

    // The first prediction takes one buffer of at most a fifth more than the content.
    let misses = pool.stats().misses;
    let (content, spent) = Ledger::measure(serialise);
    assert_eq!((spent.large, pool.stats().misses), (1, misses + 1));
    assert!(spent.peak < content.len() as u64 * 6 / 5, "{spent:?}");
    drop(content);

    // Later contents reuse it.
    for _ in 0..3 {
        let (content, spent) = Ledger::measure(serialise);
        assert_eq!(spent.large, 0);
        assert!(spent.bytes < 1024, "{spent:?}");
        drop(content);
    }
    assert_eq!((pool.stats().misses, pool.stats().outstanding), (misses + 1, 0));
}

#[test]
fn content_equals_the_written_bytes() {
    let pool = BufferPool::new(64 << 20);
    let pattern = (0..251).collect::<Vec<u8>>().repeat(1200);
    let lengths = [0, 1, 127, 128, 129, 16_383, 16_384, 16_385, 100_000, 300_001];
    for expected in [None, Some(0), Some(1), Some(20_000), Some(1 << 20), Some(u64::MAX)] {
        for len in lengths {
            for piece in [1, 7, 4096, usize::MAX] {
                let data = &pattern[..len];
                let mut writer = pool.writer(expected);
                for piece in data.chunks(piece.min(len.max(1))) {
                    writer.write_all(piece).unwrap();
                }
                assert!(writer.into_bytes() == data, "{expected:?} {len} {piece}");
            }
        }
    }
    assert_eq!(pool.stats().outstanding, 0);
}

#[test]
fn buffer_returns_when_the_last_clone_is_dropped() {
    let pool = BufferPool::new(64 << 20);
    let mut writer = pool.writer(Some(1 << 20));
    assert_eq!(pool.stats().outstanding, 0);
    writer.write_all(&[b'x'; 20_000]).unwrap();
    assert_eq!((pool.stats().outstanding, pool.stats().outstanding_bytes), (1, 1 << 20));
    let content = writer.into_bytes();
    let clone = content.slice(5..10);
    drop(content);
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (1, 0));
    drop(clone);
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));
}

#[test]
fn buffer_of_a_dropped_writer_returns_to_the_pool() {
    let pool = BufferPool::new(64 << 20);
    let mut writer = pool.writer(Some(1 << 20));
    writer.write_all(b"dropped").unwrap();
    drop(writer);
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));

    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut writer = pool.writer(Some(1 << 20));
        writer.write_all(b"the beginning").unwrap();
        panic!("a bug in the serialiser");
    }));
    assert!(panicked.is_err());
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));
    assert_eq!((pool.stats().hits, pool.stats().misses), (1, 1));
}

#[test]
fn outgrown_buffers_return_during_writing() {
    let pool = BufferPool::new(64 << 20);
    let mut writer = pool.writer(None);
    for _ in 0..64 {
        writer.write_all(&[b'x'; 4096]).unwrap();
    }
    // Buffers of 16, 32, 64 and 128 KiB have returned, and one of 256 KiB is in use.
    assert_eq!((pool.stats().idle_bytes, pool.stats().outstanding_bytes), (240 << 10, 256 << 10));
}

#[test]
fn small_content_does_not_keep_a_large_buffer() {
    let pool = BufferPool::new(64 << 20);
    let mut writer = pool.writer(Some(6 << 20));
    writer.write_all(b"hello").unwrap();
    let content = writer.into_bytes();
    assert_eq!((&content[..], pool.stats().outstanding), (&b"hello"[..], 0));
}

#[test]
fn reused_buffer_never_exposes_old_content() {
    let pool = BufferPool::new(64 << 20);
    let mut writer = pool.writer(Some(1 << 20));
    writer.write_all(&vec![b'S'; MIB]).unwrap();
    drop(writer.into_bytes());
    let mut writer = pool.writer(Some(1 << 20));
    writer.write_all(&[b'x'; 20_000]).unwrap();
    assert_eq!(pool.stats().hits, 1);
    assert_eq!(writer.into_bytes(), vec![b'x'; 20_000]);
}

#[test]
fn limit_is_inclusive_and_a_failed_write_writes_nothing() {
    let pool = BufferPool::new(64 << 20);
    for (limit, expected) in
        [(5, None), (5, Some(1 << 20)), (40_000, None), (40_000, Some(1 << 20))]
    {
        let length = limit as usize;
        let mut writer = pool.writer(expected).limit(limit);
        writer.write_all(&vec![b'x'; length]).unwrap();
        drop(writer);

        let mut writer = pool.writer(expected).limit(limit);
        writer.write_all(&vec![b'x'; length - 1]).unwrap();
        let error = writer.write_all(b"yz").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge, "{error}");
        writer.write_all(b"y").unwrap();
        assert!(pool.stats().outstanding_bytes <= limit);
        let content = writer.into_bytes();
        assert_eq!((content.len(), content.last()), (length, Some(&b'y')));
    }
    // A limit that is set later also counts the earlier bytes. The capacity does not matter.
    let mut writer = pool.writer(None);
    writer.write_all(b"12345").unwrap();
    for (limit, more, taken) in [(7, "678", false), (7, "67", true), (3, "8", false), (3, "", true)]
    {
        writer = writer.limit(limit);
        assert_eq!(writer.write_all(more.as_bytes()).is_ok(), taken, "{limit} {more}");
    }
    assert_eq!(writer.into_bytes(), "1234567");
    let mut nothing = pool.writer(None).limit(0);
    nothing.write_all(b"").unwrap();
    assert_eq!(nothing.write_all(b"x").unwrap_err().kind(), ErrorKind::FileTooLarge);
}

#[test]
fn expected_length_beyond_memory_is_not_an_error() {
    let _alone = Ledger::alone();
    let pool = BufferPool::new(64 << 20);
    let mut writer = pool.writer(Some(2 << 20));
    let ((), _) = Ledger::measure(|| {
        Ledger::refuse_from(MIB);
        writer.write_all(b"hello").unwrap();
        let error = writer.write_all(&[b'x'; MIB]).unwrap_err();
        Ledger::refuse_from(usize::MAX);
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    });
    assert_eq!(writer.into_bytes(), "hello");
    assert_eq!(pool.stats().outstanding, 0);
}
