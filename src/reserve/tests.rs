use super::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const NO_LIMIT: u64 = u64::MAX;

/// The next size, without its class.
fn next(bounds: Bounds, predicted: Option<u64>, held: u64, received: u64) -> Result<usize, u64> {
    bounds.next(predicted, held, received, false).map(|size| size.exact)
}

fn bounds(limit: u64, eager: u64) -> Bounds {
    Bounds { limit, eager, addressable: isize::MAX as u64 }
}

#[test]
fn memory_is_earned() {
    let table = [
        // limit, eager, received, earned
        (NO_LIMIT, 16 * MIB, 0, 16 * MIB),
        (NO_LIMIT, 16 * MIB, 1, 16 * MIB),
        (NO_LIMIT, 16 * MIB, 4 * MIB, 16 * MIB),
        (NO_LIMIT, 16 * MIB, 4 * MIB + 1, 16 * MIB + 4),
        (NO_LIMIT, 16 * MIB, 16 * MIB, 64 * MIB),
        (NO_LIMIT, 0, 0, 0),
        (NO_LIMIT, 0, 1, 4),
        (NO_LIMIT, u64::MAX, 1, u64::MAX),
        (NO_LIMIT, 0, u64::MAX, u64::MAX),
        (NO_LIMIT, 0, u64::MAX / 4 + 1, u64::MAX),
        (MIB, 16 * MIB, 1, MIB),
        (20 * MIB, 16 * MIB, 6 * MIB, 20 * MIB),
        (0, 16 * MIB, 0, 0),
    ];
    for (limit, eager, received, earned) in table {
        assert_eq!(bounds(limit, eager).earned(received), earned, "{limit} {eager} {received}");
    }
}

#[test]
fn known_length_is_reserved_exactly() {
    let table = [
        // limit, eager, length, held, received, size
        (NO_LIMIT, 16 * MIB, 1, 0, 1, 1),
        (NO_LIMIT, 16 * MIB, 4096, 0, 1, 4096),
        (NO_LIMIT, 16 * MIB, 12 << 20, 0, 8192, 12 << 20),
        (NO_LIMIT, 16 * MIB, 16 << 20, 0, 1, 16 << 20),
        // One byte above the eager bound is not reserved before data arrives.
        (NO_LIMIT, 16 * MIB, (16 << 20) + 1, 0, 1, 16 << 20),
        // The frame that does not fit has earned the exact length.
        (NO_LIMIT, 16 * MIB, 64 << 20, 16 * MIB, 16 * MIB + 1, 64 << 20),
        (NO_LIMIT, 16 * MIB, 100 << 20, 16 * MIB, 16 * MIB + 1, (64 << 20) + 4),
        (NO_LIMIT, 16 * MIB, 100 << 20, 64 * MIB + 4, 64 * MIB + 5, 100 << 20),
        // A large first frame earns too.
        (NO_LIMIT, 0, 1 << 20, 0, 1000, 4000),
        (NO_LIMIT, 0, 1 << 20, 0, 1 << 18, 1 << 20),
        // The whole length never passes the limit.
        (MIB, 16 * MIB, 1 << 20, 0, 1, 1 << 20),
        // A prefix of a longer body does not either.
        (100, 16 * MIB, 1 << 40, 0, 1, 100),
        // The largest number a head can hold.
        (NO_LIMIT, 16 * MIB, u64::MAX, 0, 1, 16 << 20),
    ];
    for (limit, eager, length, held, received, size) in table {
        let found = next(bounds(limit, eager), Some(length), held, received);
        assert_eq!(found, Ok(size), "{limit} {eager} {length} {held} {received}");
    }
}

#[test]
fn buffer_of_unknown_length_grows_geometrically() {
    let table = [
        // limit, held, received, size
        (NO_LIMIT, 0, 1, 1),
        (NO_LIMIT, 0, 31 * KIB, 31 << 10),
        (NO_LIMIT, 0, 32 * KIB, 64 << 10),
        (NO_LIMIT, 0, 400 * KIB, 1 << 20),
        (NO_LIMIT, 1, 2, 4),
        (NO_LIMIT, 8 * KIB, 9 * KIB, 16 << 10),
        (NO_LIMIT, 8 * KIB, 40 * KIB, 64 << 10),
        (NO_LIMIT, MIB, MIB + 1, 4 << 20),
        (NO_LIMIT, 4 * MIB, 4 * MIB + 1, 7104 << 10),
        (NO_LIMIT, 4 * MIB, 7104 * KIB, 7104 << 10),
        (NO_LIMIT, 4 * MIB, 7104 * KIB + 1, 28_416 << 10),
        (NO_LIMIT, 28_416 * KIB, 28_416 * KIB + 1, 113_664 << 10),
        (NO_LIMIT, 100 * MIB, 101 * MIB, 113_664 << 10),
        (NO_LIMIT, 1 << 62, isize::MAX as u64, isize::MAX as usize),
        // Within the limit.
        (10, 8, 9, 10),
        (40 * KIB, 32 * KIB, 33 * KIB, 40 << 10),
    ];
    for (limit, held, received, size) in table {
        let found = next(bounds(limit, 16 * MIB), None, held, received);
        assert_eq!(found, Ok(size), "{limit} {held} {received}");
    }
}

#[test]
fn buffer_of_unknown_length_grows_by_an_eighth_if_memory_is_scarce() {
    let table = [
        // predicted, held, received, size
        (None, 0, 1, 1),
        (None, 0, 31 * KIB, 31 << 10),
        (None, 0, 33 * KIB, (33 << 10) + (33 << 7)),
        (None, 16 * MIB, 16 * MIB + 8, (18 << 20) + 9),
        (Some(MIB), MIB, MIB + 8, (1 << 20) + (1 << 17) + 9),
        // A known length is needed as a whole.
        (Some(MIB), 0, 8, 1 << 20),
        (None, 1 << 62, i64::MAX as u64, isize::MAX as usize),
    ];
    for (predicted, held, received, size) in table {
        let found = bounds(NO_LIMIT, 16 * MIB).next(predicted, held, received, true);
        assert_eq!(found.map(|size| size.exact), Ok(size), "{predicted:?} {held} {received}");
    }
}

#[test]
fn body_longer_than_predicted_grows_geometrically() {
    let bounds = bounds(NO_LIMIT, 16 * MIB);
    assert_eq!(next(bounds, Some(10), 10, 11), Ok(16));
    assert_eq!(next(bounds, Some(MIB), MIB, MIB + 1), Ok(4 << 20));
}

#[test]
fn eager_bound_of_0_still_reserves_for_received_bytes() {
    let bounds = bounds(NO_LIMIT, 0);
    assert_eq!(next(bounds, None, 0, 3), Ok(3));
    // The growth is within four times the received bytes.
    assert_eq!(next(bounds, None, 3, 5), Ok(16));
}

#[test]
fn size_is_within_the_address_space_of_32_bit_targets() {
    let max = i32::MAX as u64;
    let bounds = Bounds { limit: 10 * GIB, eager: 16 * MIB, addressable: max };
    let table = [
        // predicted, held, received, outcome
        (Some(5 * GIB), 0, 1, Ok(16 << 20)),
        (Some(5 * GIB), 16 * MIB, GIB, Ok(i32::MAX as usize)),
        (Some(5 * GIB), max, max + 1, Err(max + 1)),
        (None, max - 1, max, Ok(i32::MAX as usize)),
        (None, max, max + 1, Err(max + 1)),
        (None, 0, u64::MAX, Err(u64::MAX)),
    ];
    for (predicted, held, received, outcome) in table {
        let found = next(bounds, predicted, held, received);
        assert_eq!(found, outcome, "{predicted:?} {held} {received}");
    }
}

/// Every combination of the values at which something can change.
#[test]
fn size_holds_what_was_received_and_is_earned() {
    let sizes = [
        0,
        1,
        2,
        3,
        4,
        5,
        4095,
        4096,
        32_767,
        32_768,
        32_769,
        MIB - 1,
        MIB,
        MIB + 1,
        16 * MIB,
        16 * MIB + 1,
        64 * MIB,
        i32::MAX as u64,
        GIB * 5,
        u64::MAX / 4,
        isize::MAX as u64,
        u64::MAX - 1,
        u64::MAX,
    ];
    let mut steps = 0;
    for limit in sizes {
        for eager in sizes {
            for addressable in [i32::MAX as u64, isize::MAX as u64] {
                let bounds = Bounds { limit, eager, addressable };
                for received in sizes.into_iter().filter(|&r| r > 0 && r <= limit) {
                    for held in sizes.into_iter().filter(|&h| h < received) {
                        for (expected, is_scarce) in sizes
                            .map(|size| (Some(size), false))
                            .into_iter()
                            .chain([(None, false), (None, true)])
                        {
                            let what = format!("{bounds:?} {expected:?} {held} {received}");
                            steps += 1;
                            let next = bounds.next(expected, held, received, is_scarce);
                            let size = match next {
                                Ok(size) => size,
                                Err(requested) => {
                                    assert_eq!(requested, received, "{what}");
                                    assert!(received > addressable, "{what}");
                                    continue;
                                }
                            };
                            let (capacity, class) = (size.exact as u64, size.class as u64);
                            assert!(capacity >= received, "{what}");
                            assert!(class >= capacity, "{what}");
                            assert!(class - capacity <= capacity / 8, "{what}");
                            assert!(class <= limit, "{what}");
                            assert!(class <= addressable, "{what}");
                            assert!(class <= eager.max(received.saturating_mul(4)), "{what}");
                            if let Some(length) = expected.filter(|&length| length >= received) {
                                assert!(capacity <= length, "{what}");
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(steps > 100_000, "{steps}");
}

#[test]
fn size_classes_are_an_eighth_apart() {
    let table = [
        (0, 0),
        (1, 1),
        (8, 8),
        (15, 15),
        (17, 18),
        (6 * MIB, 6 * MIB),
        (6 * MIB + 1, 6 * MIB + 512 * KIB),
        (4 * MIB - 1, 4 * MIB),
        (u64::MAX, u64::MAX),
    ];
    for (bytes, class) in table {
        assert_eq!(size_class(bytes), class, "{bytes}");
    }
}

#[test]
fn claim_bounds_what_a_body_can_hold() {
    let table = [
        // limit, eager, exact, claim
        (10 * MIB, 16 * MIB, Some(6 * MIB), 6 * MIB),
        (6 * MIB + 100, 16 * MIB, Some(6 * MIB + 100), 6 * MIB + 100),
        (100 * MIB, 16 * MIB, Some(64 * MIB), 128 * MIB),
        (3 * MIB, 16 * MIB, None, 6 * MIB),
        (0, 16 * MIB, None, 0),
        (u64::MAX, 16 * MIB, None, u64::MAX),
        (u64::MAX, 16 * MIB, Some(u64::MAX), u64::MAX),
    ];
    for (limit, eager, exact, claim) in table {
        assert_eq!(bounds(limit, eager).claim(exact), claim, "{limit} {eager} {exact:?}");
    }
}

#[test]
fn large_frame_that_is_the_whole_body_is_handed_over() {
    let kib = 1 << 10;
    let table = [
        // frame, received, declared, handed over
        (32 * kib, 32 * KIB, None, true),
        (32 * kib - 1, 32 * KIB - 1, None, false),
        (32 * kib, 32 * KIB, Some(32 * KIB), true),
        // More bytes follow.
        (32 * kib, 32 * KIB, Some(32 * KIB + 1), false),
        // The declared length was too small.
        (32 * kib, 32 * KIB, Some(1), true),
        // It is not the first frame.
        (32 * kib, 64 * KIB, None, false),
    ];
    for (frame, received, declared, handed_over) in table {
        assert_eq!(
            can_be_whole(frame, received, declared),
            handed_over,
            "{frame} {received} {declared:?}"
        );
    }
}

#[test]
fn small_or_counted_result_keeps_a_quarter_unused() {
    let table = [
        (0, 0, false),
        (0, 1, true),
        (3, 4, true),
        (4, 5, false),
        (4, 6, true),
        (100, 125, false),
        (100, 126, true),
    ];
    for (len, capacity, slack) in table {
        assert_eq!(is_slack(len, capacity, false, false), slack, "{len} {capacity}");
        let (len, capacity) = (len << 20, capacity << 20);
        assert_eq!(is_slack(len, capacity, false, true), slack, "{len} {capacity}");
    }
}

#[test]
fn large_or_pooled_result_keeps_three_times_its_length_unused() {
    let table = [(0, 0, false), (1, 4, false), (1, 5, true), (4, 16, false), (4, 17, true)];
    for (len, capacity, slack) in table {
        for is_counted in [false, true] {
            assert_eq!(is_slack(len, capacity, true, is_counted), slack, "{len} {capacity}");
        }
        let (len, capacity) = (len * COPIED_BELOW, capacity * COPIED_BELOW);
        assert_eq!(is_slack(len, capacity, false, false), slack, "{len} {capacity}");
    }
    let below = COPIED_BELOW - 1;
    assert!(is_slack(below, 2 * COPIED_BELOW, false, false));
    assert!(!is_slack(below, 2 * COPIED_BELOW, true, false));
}

#[test]
fn result_of_a_body_that_grew_is_copied_only_if_it_is_small() {
    for received in (COPIED_BELOW as u64..200 * MIB).step_by(99_991) {
        let capacity = grown(1, received) as usize;
        assert!(!is_slack(received as usize, capacity, false, false), "{received} {capacity}");
    }
}
