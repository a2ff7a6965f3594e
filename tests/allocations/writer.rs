//! What is written before it is sent: the memory it takes, and where that goes.

use std::io::{ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use presized::{BufferPool, LengthHistory};
use presized_support::ledger::Ledger;

const MIB: usize = 1 << 20;

/// 6 MiB of JSON, which a serialiser writes in many small pieces.
fn answer() -> Vec<u64> {
    vec![12_345_678; 6 * MIB / 9]
}

#[test]
fn predicted_answer_takes_one_buffer_that_does_not_grow() {
    let _alone = Ledger::alone();
    let (pool, history) = (BufferPool::new(64 << 20), LengthHistory::new());
    let answer = answer();
    let serialise = || {
        let mut writer = pool.writer(history.expected());
        serde_json::to_writer(&mut writer, &answer).unwrap();
        let content = writer.into_bytes();
        history.observe(content.len() as u64);
        content
    };
    let content = serialise();
    assert_eq!(content, serde_json::to_vec(&answer).unwrap());
    drop(content);

    // The first prediction: one buffer, of at most an eighth and a sixteenth more.
    let misses = pool.stats().misses;
    let (content, spent) = Ledger::measure(serialise);
    assert_eq!((spent.large, pool.stats().misses), (1, misses + 1));
    assert!(spent.peak < content.len() as u64 * 6 / 5, "{spent:?}");
    drop(content);

    // From then on none.
    for _ in 0..3 {
        let (content, spent) = Ledger::measure(serialise);
        assert_eq!(spent.large, 0);
        assert!(spent.bytes < 1024, "{spent:?}");
        drop(content);
    }
    assert_eq!((pool.stats().misses, pool.stats().outstanding), (misses + 1, 0));
}

#[test]
fn content_is_what_was_written() {
    let pool = BufferPool::new(64 << 20);
    let lengths = [0, 1, 127, 128, 129, 16_383, 16_384, 16_385, 100_000, 300_001];
    for expected in [None, Some(0), Some(1), Some(20_000), Some(1 << 20), Some(u64::MAX)] {
        for len in lengths {
            for piece in [1, 7, 4096, usize::MAX] {
                let data: Vec<_> = (0..len).map(|position| (position % 251) as u8).collect();
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
fn buffer_returns_without_becoming_content() {
    let pool = BufferPool::new(64 << 20);
    let mut writer = pool.writer(Some(1 << 20));
    writer.write_all(b"dropped").unwrap();
    drop(writer);
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));

    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut writer = pool.writer(Some(1 << 20));
        writer.write_all(b"a serialiser that").unwrap();
        panic!("panics");
    }));
    assert!(panicked.is_err());
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));
    assert_eq!((pool.stats().hits, pool.stats().misses), (1, 1));
}

#[test]
fn outgrown_buffers_return_while_it_is_written() {
    let pool = BufferPool::new(64 << 20);
    let mut writer = pool.writer(None);
    for _ in 0..64 {
        writer.write_all(&[b'x'; 4096]).unwrap();
    }
    // 16, 32, 64 and 128 KiB are back, 256 KiB are in use.
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
fn old_content_is_never_seen() {
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
    // Later than the first bytes, it counts those too, and what there is room for is no matter.
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
fn expected_length_that_cannot_be_had_is_no_error() {
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
