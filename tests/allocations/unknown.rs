//! The memory of bodies with an unknown or a wrong length.

use presized::{Collect, ContentLength, Mismatch, Reader, collect_presized};

use crate::{KIB, MIB, PATTERN, alone, body, count};

#[test]
fn unknown_length_peaks_at_twice_the_body() {
    let _alone = alone();
    // Lengths at and next to powers of two, where a doubling buffer is at its best and its worst.
    for len in [
        MIB,
        MIB + 1,
        2 * MIB - 1,
        3 * MIB,
        4 * MIB + 1,
        6 * MIB,
        8 * MIB + 1,
        12 * MIB,
        33 * MIB,
        64 * MIB + 1,
    ] {
        for frame in [8 * KIB, 16 * KIB, 64 * KIB, 400 * KIB] {
            let (content, spent) = count(collect_presized(body(len, frame), None, u64::MAX));
            assert_eq!(content.unwrap(), PATTERN[..len]);
            let peak = spent.peak as f64 / len as f64;
            assert!(peak <= 2.05, "{len} in frames of {frame}: {peak}");
            assert_eq!(spent.kept, len as i64, "{len} in frames of {frame}");
        }
    }
}

#[test]
fn result_keeps_at_most_a_quarter_of_unused_capacity() {
    let _alone = alone();
    for len in [1, 2, 3, 10, 1000, 20 * KIB, 40 * KIB, MIB + 1] {
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
                assert!(vec.capacity() * 4 <= len * 5, "{declared:?} {len}: {}", vec.capacity());
                assert_eq!(spent.kept, vec.capacity() as i64);
                let (bytes, spent) = count(read().bytes());
                // `Bytes` stores a capacity that differs from the length in a small block.
                assert!(spent.kept * 4 <= len as i64 * 5 + 4 * 64, "{declared:?} {len}: {spent:?}");
                drop(bytes);
            }
        }
    }
}
