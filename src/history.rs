//! How long the next body is likely to be, where none of them says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What bodies like the next one measured lately.
///
/// For responses without a length, which take twice their memory to read: a guess that
/// is right makes it one reservation. It is a hint: it never lifts a limit, never passes
/// the eager bound, and never makes an error. One that is too small costs what no guess
/// costs; one that is too large, a copy into a smaller buffer at the end.
///
/// Keep one for each kind of body: an operation, a route, a function. Clones share one.
/// Reading and noting take no lock.
///
/// # Examples
///
/// ```
/// use presized::LengthHistory;
///
/// let history = LengthHistory::new();
/// assert_eq!(history.expected(), None);
/// for length in [1_000_000, 1_000_100, 9_000_000, 999_900] {
///     history.observe(length);
/// }
/// // The outlier does not count, and there is a little room.
/// assert_eq!(history.expected(), Some(1_062_606));
/// ```
#[derive(Clone, Debug, Default)]
pub struct LengthHistory {
    recent: Arc<Recent>,
}

#[derive(Debug, Default)]
struct Recent {
    /// Each is one more than a length; 0 is none.
    lengths: [AtomicU64; KEPT],
    seen: AtomicU64,
}

impl LengthHistory {
    /// A history of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes the length in bytes of a body that was read. [`Collect`](crate::Collect) does
    /// so for bodies without a declared length that it reads to their end.
    pub fn observe(&self, length: u64) {
        let position = self.recent.seen.fetch_add(1, Relaxed) % KEPT as u64;
        self.recent.lengths[position as usize].store(length.saturating_add(1), Relaxed);
    }

    /// The number of bytes to expect of the next body.
    ///
    /// The second largest of the last eight, so that one outlier moves nothing, and one
    /// sixteenth more, so that lengths may vary a little. A race with a note gives the
    /// estimate before or after it.
    pub fn expected(&self) -> Option<u64> {
        let mut lengths = [0; KEPT];
        for (copy, length) in lengths.iter_mut().zip(&self.recent.lengths) {
            *copy = length.load(Relaxed);
        }
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        let length = if lengths[1] == 0 { lengths[0] } else { lengths[1] }.checked_sub(1)?;
        Some(length.saturating_add(length / ROOM_SHARE))
    }
}

/// Lengths that are remembered: enough to see past an outlier, few enough to forget a
/// size that is no longer sent.
const KEPT: usize = 8;

const ROOM_SHARE: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn expected_after(lengths: &[u64]) -> Option<u64> {
        let history = LengthHistory::new();
        for &length in lengths {
            history.observe(length);
        }
        history.expected()
    }

    #[test]
    fn estimate_follows_what_was_seen() {
        let table: &[(&[u64], Option<u64>)] = &[
            (&[], None),
            (&[0], Some(0)),
            (&[0, 0], Some(0)),
            (&[160], Some(170)),
            (&[160, 160], Some(170)),
            // One outlier moves nothing, two do.
            (&[160, 160, 1 << 40], Some(170)),
            (&[160, 160, 320, 320], Some(340)),
            (&[320, 160], Some(170)),
            // Eight later it is forgotten.
            (&[320, 320, 160, 160, 160, 160, 160, 160, 160], Some(170)),
            (&[u64::MAX, u64::MAX], Some(u64::MAX)),
        ];
        for (lengths, expected) in table {
            assert_eq!(expected_after(lengths), *expected, "{lengths:?}");
        }
    }
}
