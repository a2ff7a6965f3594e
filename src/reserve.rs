//! When memory is reserved for a body, and how much.
//!
//! Pure functions of numbers: no body, no I/O, no allocation. `content.rs` carries
//! out what is decided here.

/// What nobody can talk the reader out of, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Most bytes of content, inclusive.
    pub(crate) limit: u64,
    /// Most memory for a body that has not earned more.
    pub(crate) eager: u64,
    /// Most bytes one allocation can have: `isize::MAX`, and less in tests, where
    /// it stands for a 32-bit target.
    pub(crate) addressable: u64,
}

/// What to do when the bytes in hand do not fit into the memory there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Give the block that is being filled this capacity.
    Grow(Size),
    /// It is full: put a further block of this capacity behind it.
    Append(Size),
}

/// The capacity of a block, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// What is needed.
    pub(crate) exact: usize,
    /// That rounded up, so that one buffer serves bodies of about the same length; still
    /// no more than was earned. For memory that is used again.
    pub(crate) class: usize,
}

impl Bounds {
    /// How much memory a body may hold that has delivered `received` bytes.
    ///
    /// This line bounds what any peer can make us reserve.
    pub(crate) fn earned(&self, received: u64) -> u64 {
        self.limit.min(self.eager.max(received.saturating_mul(EARNED_PER_BYTE)))
    }

    /// Decides the next reservation. `held` is the memory the content has now and
    /// `received` the bytes that must fit, those in hand included: `held < received`,
    /// and `received` is within the limit.
    ///
    /// While the length is known and right there is one block, and it goes to that
    /// length as soon as that much is earned. Otherwise nobody knows where the body
    /// ends, and a block that doubles would peak at three times the body when it
    /// ends just after doubling. So a small block doubles, and from
    /// [`APPEND_FROM`] on full blocks stay where they are and small ones follow: they
    /// are joined once, into exactly the length, at a peak of twice the body plus
    /// one twenty-fourth.
    ///
    /// # Errors
    ///
    /// The number of bytes that would be needed, where no allocation can be that large.
    pub(crate) fn next(
        &self,
        expected: Option<u64>,
        held: u64,
        received: u64,
    ) -> Result<Step, u64> {
        if received > self.addressable {
            return Err(received);
        }
        let most = self.earned(received).min(self.addressable);
        match expected {
            Some(length) if received <= length => Size::within(length, most).map(Step::Grow),
            _ if held < APPEND_FROM => {
                Size::within(received.max(held.saturating_mul(2)), most).map(Step::Grow)
            }
            _ => {
                let block = (received - held).max(APPEND_FROM).max(received / APPEND_SHARE);
                Size::within(block, most - held).map(Step::Append)
            }
        }
    }

    /// The block that blocks of `received` bytes in all are joined in.
    pub(crate) fn joined(&self, received: u64) -> Result<Size, u64> {
        Size::within(received, self.earned(received).min(self.addressable))
    }

    /// The most memory a body can come to hold at one time, both blocks counted where one
    /// is copied into the other. An expected length that is only a hint bounds nothing.
    pub(crate) fn claim(&self, exact: Option<u64>) -> u64 {
        match exact {
            Some(length) if length <= self.eager => size_class(length).min(self.limit),
            Some(length) => size_class(length).min(self.limit).saturating_mul(2),
            None => {
                let blocks = self.limit.saturating_add(self.limit / APPEND_SHARE);
                let classes = size_class(blocks.max(APPEND_FROM));
                classes.saturating_add(size_class(self.limit)).saturating_add(APPEND_FROM)
            }
        }
    }
}

impl Size {
    /// `bytes`, and never more than `most`.
    pub(crate) fn within(bytes: u64, most: u64) -> Result<Self, u64> {
        let exact = to_usize(bytes.min(most))?;
        let class = to_usize(size_class(bytes).min(most))?;
        Ok(Self { exact, class })
    }
}

/// The next multiple of an eighth of the power of two below: at most an eighth more.
fn size_class(bytes: u64) -> u64 {
    let step = 1 << bytes.checked_ilog2().unwrap_or(0).saturating_sub(3);
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

/// Whether a frame of `frame` bytes, with which `received` have arrived, can be the whole
/// body, by what is declared, and is large enough to be the result as it is.
pub(crate) fn can_be_whole(frame: usize, received: u64, declared: Option<u64>) -> bool {
    frame >= HAND_OVER_FROM
        && received == frame as u64
        && declared.is_none_or(|declared| declared <= received)
}

/// Whether a result of `len` bytes would keep more than a quarter of its length as slack.
pub(crate) fn is_slack(len: usize, capacity: usize) -> bool {
    capacity - len > len / 4
}

fn to_usize(bytes: u64) -> Result<usize, u64> {
    usize::try_from(bytes).map_err(|_| bytes)
}

/// From this size on a frame that is the whole body is handed over; below, it is copied
/// out, since it keeps the read buffer alive of which it is a slice.
///
/// Measured over loopback against handing over: copying costs 2 % of the CPU time of a body
/// at 16 KiB, 6 % at 32 KiB and 9 % at 64 KiB. What a frame keeps alive is at most hyper's
/// 408 KiB, which is 25 times a body of 16 KiB and 13 times one of 32 KiB.
const HAND_OVER_FROM: usize = 32 << 10;

/// Reserved at once on the word of a peer, unless the caller says otherwise.
/// 16 MiB holds every buffered Lambda answer, and is what .NET settled on
/// (dotnet/runtime#109642).
pub(crate) const EAGER_DEFAULT: u64 = 16 << 20;

/// Bytes of memory that one received byte earns. At four, a body of 64 MiB reaches
/// its exact length in one step from the default eager bound, so that the two
/// blocks of that reallocation are 1.25 times the body.
const EARNED_PER_BYTE: u64 = 4;

/// Where blocks of unknown length stop doubling, and the smallest block after that.
const APPEND_FROM: u64 = 32 << 10;

/// A further block is this part of what was received: the most that can be unused
/// when the body ends. Larger blocks cost less CPU; one twentieth would use up a peak of
/// 2.05 times the body, and this leaves room.
const APPEND_SHARE: u64 = 24;

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;
    const NO_LIMIT: u64 = u64::MAX;

    /// A step, without the classes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Exactly {
        Grow(usize),
        Append(usize),
    }
    use Exactly::{Append, Grow};

    fn next(
        bounds: Bounds,
        expected: Option<u64>,
        held: u64,
        received: u64,
    ) -> Result<Exactly, u64> {
        bounds.next(expected, held, received).map(|step| match step {
            Step::Grow(size) => Grow(size.exact),
            Step::Append(size) => Append(size.exact),
        })
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
            // limit, eager, length, held, received, step
            (NO_LIMIT, 16 * MIB, 1, 0, 1, Grow(1)),
            (NO_LIMIT, 16 * MIB, 4096, 0, 1, Grow(4096)),
            (NO_LIMIT, 16 * MIB, 12 << 20, 0, 8192, Grow(12 << 20)),
            (NO_LIMIT, 16 * MIB, 16 << 20, 0, 1, Grow(16 << 20)),
            // One byte above the eager bound is not given on trust.
            (NO_LIMIT, 16 * MIB, (16 << 20) + 1, 0, 1, Grow(16 << 20)),
            // The frame that does not fit has earned the exact length.
            (NO_LIMIT, 16 * MIB, 64 << 20, 16 * MIB, 16 * MIB + 1, Grow(64 << 20)),
            (NO_LIMIT, 16 * MIB, 100 << 20, 16 * MIB, 16 * MIB + 1, Grow((64 << 20) + 4)),
            (NO_LIMIT, 16 * MIB, 100 << 20, 64 * MIB + 4, 64 * MIB + 5, Grow(100 << 20)),
            // A large first frame earns too.
            (NO_LIMIT, 0, 1 << 20, 0, 1000, Grow(4000)),
            (NO_LIMIT, 0, 1 << 20, 0, 1 << 18, Grow(1 << 20)),
            // The whole length never passes the limit.
            (MIB, 16 * MIB, 1 << 20, 0, 1, Grow(1 << 20)),
            // A prefix of a longer body does not either.
            (100, 16 * MIB, 1 << 40, 0, 1, Grow(100)),
            // The largest number a head can hold.
            (NO_LIMIT, 16 * MIB, u64::MAX, 0, 1, Grow(16 << 20)),
        ];
        for (limit, eager, length, held, received, step) in table {
            let found = next(bounds(limit, eager), Some(length), held, received);
            assert_eq!(found, Ok(step), "{limit} {eager} {length} {held} {received}");
        }
    }

    #[test]
    fn unknown_length_doubles_then_appends() {
        let table = [
            // limit, held, received, step
            (NO_LIMIT, 0, 1, Grow(1)),
            (NO_LIMIT, 0, 400 * KIB, Grow(400 << 10)),
            (NO_LIMIT, 1, 2, Grow(2)),
            (NO_LIMIT, 8 * KIB, 9 * KIB, Grow(16 << 10)),
            (NO_LIMIT, 8 * KIB, 40 * KIB, Grow(40 << 10)),
            (NO_LIMIT, 32 * KIB - 1, 32 * KIB, Grow((64 << 10) - 2)),
            (NO_LIMIT, 32 * KIB, 32 * KIB + 1, Append(32 << 10)),
            (NO_LIMIT, 64 * KIB, 164 * KIB, Append(100 << 10)),
            (NO_LIMIT, MIB, MIB + 1, Append(43_690)),
            (NO_LIMIT, 24 * MIB, 24 * MIB + 24, Append((1 << 20) + 1)),
            // Clamped to the limit.
            (10, 8, 9, Grow(10)),
            (40 * KIB, 32 * KIB, 33 * KIB, Append(8 << 10)),
        ];
        for (limit, held, received, step) in table {
            assert_eq!(
                next(bounds(limit, 16 * MIB), None, held, received),
                Ok(step),
                "{limit} {held} {received}"
            );
        }
    }

    #[test]
    fn outgrown_length_is_an_unknown_one() {
        let bounds = bounds(NO_LIMIT, 16 * MIB);
        assert_eq!(next(bounds, Some(10), 10, 11), Ok(Grow(20)));
        assert_eq!(next(bounds, Some(MIB), MIB, MIB + 1), Ok(Append(43_690)));
    }

    #[test]
    fn no_eager_bound_still_takes_what_comes() {
        let bounds = bounds(NO_LIMIT, 0);
        assert_eq!(next(bounds, None, 0, 3), Ok(Grow(3)));
        // Twice what is held is within four times what was received.
        assert_eq!(next(bounds, None, 3, 4), Ok(Grow(6)));
    }

    #[test]
    fn on_32_bit_targets() {
        let max = i32::MAX as u64;
        let bounds = Bounds { limit: 10 * GIB, eager: 16 * MIB, addressable: max };
        let table = [
            // expected, held, received, outcome
            (Some(5 * GIB), 0, 1, Ok(Grow(16 << 20))),
            (Some(5 * GIB), 16 * MIB, GIB, Ok(Grow(i32::MAX as usize))),
            (Some(5 * GIB), max, max + 1, Err(max + 1)),
            (None, max - 1, max, Ok(Append(1))),
            (None, max, max + 1, Err(max + 1)),
            (None, 0, u64::MAX, Err(u64::MAX)),
        ];
        for (expected, held, received, outcome) in table {
            assert_eq!(
                next(bounds, expected, held, received),
                outcome,
                "{expected:?} {held} {received}"
            );
        }
    }

    /// Every combination of the values at which something can change.
    #[test]
    fn no_step_is_too_small_or_unearned() {
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
                            for expected in sizes.map(Some).into_iter().chain([None]) {
                                let what = format!("{bounds:?} {expected:?} {held} {received}");
                                steps += 1;
                                let (capacity, class) = match bounds.next(expected, held, received)
                                {
                                    Ok(Step::Grow(size)) => (size.exact as u64, size.class as u64),
                                    Ok(Step::Append(size)) => {
                                        (held + size.exact as u64, held + size.class as u64)
                                    }
                                    Err(requested) => {
                                        assert_eq!(requested, received, "{what}");
                                        assert!(received > addressable, "{what}");
                                        continue;
                                    }
                                };
                                assert!(capacity >= received, "{what}");
                                assert!(class >= capacity, "{what}");
                                assert!(
                                    class - held.min(capacity) <= capacity + capacity / 8,
                                    "{what}"
                                );
                                assert!(class <= limit, "{what}");
                                assert!(class <= addressable, "{what}");
                                assert!(class <= eager.max(received.saturating_mul(4)), "{what}");
                                if let Some(length) = expected.filter(|&length| length >= received)
                                {
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
            (3 * MIB, 16 * MIB, None, 3 * MIB + 256 * KIB + 3 * MIB + 32 * KIB),
            (0, 16 * MIB, None, 64 * KIB),
            (u64::MAX, 16 * MIB, None, u64::MAX),
            (u64::MAX, 16 * MIB, Some(u64::MAX), u64::MAX),
        ];
        for (limit, eager, exact, claim) in table {
            assert_eq!(bounds(limit, eager).claim(exact), claim, "{limit} {eager} {exact:?}");
        }
    }

    #[test]
    fn large_frame_that_is_all_is_handed_over() {
        let kib = 1 << 10;
        let table = [
            // frame, received, declared, handed over
            (32 * kib, 32 * KIB, None, true),
            (32 * kib - 1, 32 * KIB - 1, None, false),
            (32 * kib, 32 * KIB, Some(32 * KIB), true),
            // More is to come.
            (32 * kib, 32 * KIB, Some(32 * KIB + 1), false),
            // The number was too small, and so described something else.
            (32 * kib, 32 * KIB, Some(1), true),
            // It is not the first.
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
    fn slack_is_more_than_a_quarter() {
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
            assert_eq!(is_slack(len, capacity), slack, "{len} {capacity}");
        }
    }
}
