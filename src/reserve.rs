//! When memory is reserved for a body, and how much.
//!
//! Pure functions of numbers: no body, no I/O, no allocation. `content.rs` carries out what is
//! decided here.

/// The bounds on the memory of one body, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The most bytes of content, inclusive.
    pub(crate) limit: u64,
    /// The most memory that is reserved before received bytes allow more.
    pub(crate) eager: u64,
    /// The most bytes of one allocation: `isize::MAX`, and less in tests of 32-bit targets.
    pub(crate) addressable: u64,
}

/// The capacity of a buffer, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// The bytes that are needed.
    pub(crate) exact: usize,
    /// `exact` rounded up, so that one pooled buffer serves bodies of similar length. It is
    /// within the bounds too.
    pub(crate) class: usize,
}

impl Bounds {
    /// Returns how much memory a body may hold after it has delivered `received` bytes: the bytes
    /// that it has earned.
    ///
    /// This line bounds what any peer can make us reserve.
    pub(crate) fn earned(&self, received: u64) -> u64 {
        self.limit.min(self.eager.max(received.saturating_mul(EARNED_PER_BYTE)))
    }

    /// Decides the next size of the buffer. The buffer has `held` bytes now, and `received` bytes
    /// must fit, with those that are pending. `held` is less than `received`, which is within the
    /// limit.
    ///
    /// A body of predicted length gets that length as soon as it has earned it. Otherwise the
    /// buffer grows by a factor, and by an eighth only if memory `is_scarce`.
    ///
    /// # Errors
    ///
    /// The number of bytes that are needed, if one allocation cannot be as large.
    pub(crate) fn next(
        &self,
        predicted: Option<u64>,
        held: u64,
        received: u64,
        is_scarce: bool,
    ) -> Result<Size, u64> {
        if received > self.addressable {
            return Err(received);
        }
        let wanted = match predicted {
            Some(length) if received <= length => length,
            _ if is_scarce => grown(held, received).min(received.saturating_add(received / 8)),
            _ => grown(held, received),
        };
        Size::within(wanted, self.earned(received).min(self.addressable))
    }

    /// Returns the most memory that a body can hold at one time, with both buffers of a
    /// reallocation. `exact` is an exact length. A hint bounds nothing.
    pub(crate) fn claim(&self, exact: Option<u64>) -> u64 {
        match exact {
            Some(length) if length <= self.eager => size_class(length).min(self.limit),
            Some(length) => size_class(length).min(self.limit).saturating_mul(2),
            None => self.limit.saturating_mul(2),
        }
    }
}

impl Size {
    /// Returns the size for `bytes`, and never more than `most`.
    pub(crate) fn within(bytes: u64, most: u64) -> Result<Self, u64> {
        let exact = to_usize(bytes.min(most))?;
        let class = to_usize(size_class(bytes).min(most))?;
        Ok(Self { exact, class })
    }
}

/// Returns the size that a buffer of `held` bytes grows to for a body of unknown length.
///
/// A small body is likely to be one frame, and gets what it needs. Then sizes come from one series:
/// they come back from one body to the next, so the allocator finds them again. Each is at most
/// four times the one before, because jemalloc and mimalloc copy a buffer that grows, and keep the
/// smaller one. Quadrupling takes half the copies of doubling. glibc and musl move the pages of a
/// large buffer, so the factor costs nothing there.
fn grown(held: u64, received: u64) -> u64 {
    if held == 0 && received < HAND_OVER_FROM as u64 {
        return received;
    }
    let mut size = if received > KEPT_MAX { KEPT_MAX } else { 1 };
    while size < received {
        size = size.saturating_mul(4);
    }
    if received > KEPT_MAX { size } else { size.min(KEPT_MAX) }
}

/// Returns the next multiple of an eighth of the power of two below: at most an eighth more.
pub(crate) fn size_class(bytes: u64) -> u64 {
    let step = 1 << bytes.checked_ilog2().unwrap_or(0).saturating_sub(3);
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

/// Returns whether a frame of `frame` bytes can be the whole body by its declared length, and is
/// large enough to be handed over. `received` is with the frame.
pub(crate) fn can_be_whole(frame: usize, received: u64, declared: Option<u64>) -> bool {
    frame >= HAND_OVER_FROM
        && received == frame as u64
        && declared.is_none_or(|declared| declared <= received)
}

/// Returns whether a result of `len` bytes is copied out of its buffer of `capacity`.
///
/// A result keeps at most three times its length unused, which is what growth leaves. The kernel
/// has provided no memory for pages that were never written, and a copy would fault in each page
/// of the content again: that took 1.0 to 1.1 times the CPU time of `collect()` where memory goes
/// back to the kernel, and 0.6 without. At most a quarter of its length stays unused if a budget
/// counts it, or if it is small. A pool gets its buffer back, so a small result may stay in it.
pub(crate) fn is_slack(len: usize, capacity: usize, is_pooled: bool, is_counted: bool) -> bool {
    let may_keep_more = is_pooled || (len >= COPIED_BELOW && !is_counted);
    capacity - len > if may_keep_more { len.saturating_mul(3) } else { len / 4 }
}

fn to_usize(bytes: u64) -> Result<usize, u64> {
    usize::try_from(bytes).map_err(|_| bytes)
}

/// The smallest frame that is handed over, in bytes. A smaller frame is copied, because it keeps
/// the read buffer alive of which it is a slice.
///
/// Measured over loopback against handing over: copying costs 2 % of the CPU time of a body at
/// 16 KiB, 6 % at 32 KiB and 9 % at 64 KiB. Over HTTP/1.1 a frame keeps hyper's read buffer alive,
/// 512 KiB by default: 32 times a body of 16 KiB, and 16 times one of 32 KiB. `Bytes` does not say
/// how large its buffer is, so a frame of a larger buffer is not copied.
const HAND_OVER_FROM: usize = 32 << 10;

/// The default eager bound, in bytes. 16 MiB holds every buffered Lambda response. .NET chose the
/// same bound (dotnet/runtime#109642).
pub(crate) const EAGER_DEFAULT: u64 = 16 << 20;

/// Bytes of memory that one received byte earns. With four, a body of 64 MiB gets its exact length
/// in one step from the default eager bound, so both buffers are 1.25 times the body.
const EARNED_PER_BYTE: u64 = 4;

/// The largest buffer that jemalloc keeps for the next body, in bytes. It returns 8 MiB and more to
/// the kernel at once (`oversize_threshold`), and in version 5.3.1 also 7 MiB: a body of 6 MiB took
/// 1,537 faults, and none in this size. Four times as much is below 32 MiB, which is the largest
/// buffer that glibc keeps: a body of 20 MiB took 5,121 faults in 64 MiB, and none in this size.
const KEPT_MAX: u64 = (7 << 20) - (64 << 10);

/// Results below this length are copied if much of their buffer is unused, in bytes. glibc maps
/// larger buffers, until its threshold has risen.
const COPIED_BELOW: usize = 128 << 10;

#[cfg(test)]
mod tests;
