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
    Grow(usize),
    /// It is full: put a further block of this capacity behind it.
    Append(usize),
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
    /// one thirty-second.
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
            Some(length) if received <= length => to_usize(length.min(most)).map(Step::Grow),
            _ if held < APPEND_FROM => {
                to_usize(received.max(held.saturating_mul(2)).min(most)).map(Step::Grow)
            }
            _ => {
                let block = (received - held).max(APPEND_FROM).max(received / APPEND_SHARE);
                to_usize(block.min(most - held)).map(Step::Append)
            }
        }
    }
}

/// Whether a result of `len` bytes would keep more than a quarter of its length as slack.
pub(crate) fn is_slack(len: usize, capacity: usize) -> bool {
    capacity - len > len / 4
}

/// Saturates, which leaves it to the allocator to refuse what cannot be had.
pub(crate) fn eager_bound(eager: usize) -> u64 {
    u64::try_from(eager).unwrap_or(u64::MAX)
}

fn to_usize(bytes: u64) -> Result<usize, u64> {
    usize::try_from(bytes).map_err(|_| bytes)
}

/// Reserved at once on the word of a peer, unless the caller says otherwise.
/// 16 MiB holds every buffered Lambda answer and is what .NET settled on.
pub(crate) const EAGER_DEFAULT: usize = 16 << 20;

/// Bytes of memory that one received byte earns. At four, a body of 64 MiB reaches
/// its exact length in one step from the default eager bound, so that the two
/// blocks of that reallocation are 1.25 times the body.
const EARNED_PER_BYTE: u64 = 4;

/// Where blocks of unknown length stop doubling, and the smallest block after that.
const APPEND_FROM: u64 = 32 << 10;

/// A further block is this part of what was received: the most that can be unused
/// when the body ends.
const APPEND_SHARE: u64 = 32;
