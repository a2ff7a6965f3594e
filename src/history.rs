//! The length history: predicts the length of bodies that declare none.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Predicts the length of bodies that declare none from the lengths of earlier ones.
///
/// With a right prediction, a chunked body takes one reservation. A prediction is only a hint: it
/// never raises a limit, never passes the eager bound, and never causes an error. If a prediction
/// is too small, the buffer grows as without a history. If it is too large, the result has unused
/// capacity. [`Collect::bytes`](crate::Collect::bytes) says when that is freed.
///
/// Keep one history for each kind of body: an operation, a route, a function. Clones share one
/// history. Reading and recording take no lock.
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
/// // The outlier 9,000,000 is ignored. The prediction is 1,000,100 and a sixteenth of it.
/// assert_eq!(history.expected(), Some(1_062_606));
/// ```
#[derive(Clone, Debug, Default)]
pub struct LengthHistory {
    recent: Arc<Recent>,
}

#[derive(Debug, Default)]
struct Recent {
    /// Each value is a length plus one. 0 means that there is no length yet.
    lengths: [AtomicU64; KEPT],
    seen: AtomicU64,
}

impl LengthHistory {
    /// Creates an empty history.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records the length of a body in bytes.
    ///
    /// [`Collect`](crate::Collect) calls this for a body that declares no length and is read to its
    /// end.
    pub fn observe(&self, length: u64) {
        let position = self.recent.seen.fetch_add(1, Relaxed) % KEPT as u64;
        self.recent.lengths[position as usize].store(length.saturating_add(1), Relaxed);
    }

    /// Returns the predicted length of the next body in bytes.
    ///
    /// It is the second largest of the last eight lengths, plus a sixteenth of that length. So one
    /// outlier changes nothing, and lengths may vary a little. It may or may not include a length
    /// that another thread records at the same time.
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

/// Number of lengths that are kept: enough to ignore an outlier, few enough to forget an old size.
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
