//! The documented bounds on memory, counted by the global allocator.

mod bound;
mod failed;
mod frames;
mod handed_over;
mod known;
mod refused;
mod shared;
mod unknown;
mod writer;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{LazyLock, MutexGuard};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use presized_support::drive::drive;
use presized_support::ledger::{Ledger, Spent};

#[global_allocator]
static LEDGER: Ledger = Ledger;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// The most bytes of allocations without content, such as the box of an error.
const BOOKKEEPING: u64 = 16 << 10;

/// Content in which neighbouring bytes differ, so that a misplaced byte is found.
static PATTERN: LazyLock<&'static [u8]> = LazyLock::new(|| {
    // Slices are copied, because a loop over 65 MiB takes a second without optimization.
    let period: Vec<u8> = (0..127).collect();
    let mut pattern = period.repeat((65 * MIB).div_ceil(period.len()));
    pattern.truncate(65 * MIB);
    pattern.leak()
});

/// Waits until no other test counts, and makes the pattern before the count.
fn alone() -> MutexGuard<'static, ()> {
    LazyLock::force(&PATTERN);
    Ledger::alone()
}

/// A body of static content in frames of one size. It owns no memory, so its drop is not counted.
struct Frames {
    rest: &'static [u8],
    frame: usize,
    /// Whether only every other poll is ready.
    pauses: bool,
    /// Whether the current poll is ready.
    ready: bool,
}

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.ready = !self.ready || !self.pauses;
        if !self.ready {
            return Poll::Pending;
        }
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let (frame, rest) = self.rest.split_at(self.frame.min(self.rest.len()));
        self.rest = rest;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(frame)))))
    }
}

/// Returns the first `len` bytes of the pattern in frames of `frame` bytes.
fn body(len: usize, frame: usize) -> Frames {
    Frames { rest: &PATTERN[..len], frame, pauses: false, ready: false }
}

/// Runs a read and counts its allocations.
fn count<F: Future>(read: F) -> (F::Output, Spent) {
    Ledger::measure(|| drive(read))
}
