//! The memory of bodies with an unknown or a wrong length.

use presized::{Collect, ContentLength, Mismatch, Reader, collect_presized};

use crate::{KIB, MIB, PATTERN, alone, body, count};

/// The count includes both buffers of every reallocation, and memory that was never written. The
/// resident memory is smaller: BENCHMARKS.md has it.
#[test]
fn unknown_length_takes_few_reallocations_and_keeps_one_buffer() {
    let _alone = alone();
    // Lengths at which a buffer is full, and the next ones, which use least of a larger buffer.
    for len in [
        MIB,
        MIB + 1,
        3 * MIB,
        4 * MIB,
        4 * MIB + 1,
        6 * MIB,
        7104 * KIB,
        7104 * KIB + 1,
        12 * MIB,
        4 * 7104 * KIB,
        4 * 7104 * KIB + 1,
        64 * MIB + 1,
    ] {
        for frame in [8 * KIB, 16 * KIB, 64 * KIB, 400 * KIB] {
            let (content, spent) = count(collect_presized(body(len, frame), None, u64::MAX));
            assert_eq!(content.unwrap(), PATTERN[..len]);
            let at = format!("{len} in frames of {frame}: {spent:?}");
            // Eight sizes from 16 KiB to 111 MiB, one before for the first frame, and a small block
            // in which `Bytes` stores a capacity.
            assert!(spent.allocations <= 10, "{at}");
            // A buffer is at most four times the body, and an earlier one is beside it.
            assert!(spent.peak <= (5 * len + KIB) as u64, "{at}");
            assert!(spent.kept as usize <= 4 * len + 64, "{at}");
        }
    }
}

/// A large result keeps at most three times its length unused, see `is_slack` in `reserve.rs`.
#[test]
fn small_result_keeps_at_most_a_quarter_of_unused_capacity() {
    let _alone = alone();
    for len in [1, 2, 3, 10, 1000, 20 * KIB, 40 * KIB, MIB + 1, 33 * MIB] {
        for declared in [
            ContentLength::Unknown,
            ContentLength::Exact(10 * len as u64),
            ContentLength::Hint(10 * len as u64),
            ContentLength::Exact(len as u64 / 10),
        ] {
            for frame in [1, 7, 8 * KIB].into_iter().filter(|frame| len / frame < 20_000) {
                let read = || {
                    Collect::new(body(len, frame), Reader::new(u64::MAX).mismatch(Mismatch::Allow))
                        .content_length(declared)
                };
                let (vec, spent) = count(read().vec());
                let vec = vec.unwrap();
                assert_eq!(vec, PATTERN[..len]);
                let most = if len > MIB { 4 * len } else { len * 5 / 4 };
                assert!(vec.capacity() <= most, "{declared:?} {len}: {}", vec.capacity());
                assert_eq!(spent.kept, vec.capacity() as i64);
                let (bytes, spent) = count(read().bytes());
                // `Bytes` stores a capacity that differs from the length in a small block.
                assert!(spent.kept as usize <= most + 64, "{declared:?} {len}: {spent:?}");
                drop(bytes);
            }
        }
    }
}
