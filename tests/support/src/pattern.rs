//! The content that the servers send. It is made once, sent without a copy, and quick to check.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// A body whose content depends on its length alone.
///
/// Its frames are slices of static memory. Sending one takes no allocation, and keeping one keeps no
/// other memory alive.
#[derive(Clone, Debug)]
pub struct Pattern {
    position: u64,
    length: u64,
    frame: usize,
    says_length: bool,
    stalls: bool,
}

impl Pattern {
    /// Creates a body of `length` bytes in frames of 64 KiB, with an exact size hint.
    pub fn of(length: u64) -> Self {
        Self { position: 0, length, frame: 64 << 10, says_length: true, stalls: false }
    }

    /// Sets the size of the frames in bytes, at most [`FRAME_MAX`].
    pub fn in_frames_of(mut self, bytes: usize) -> Self {
        assert!((1..=FRAME_MAX).contains(&bytes));
        self.frame = bytes;
        self
    }

    /// Removes the size hint.
    pub fn of_unknown_length(mut self) -> Self {
        self.says_length = false;
        self
    }

    /// Makes the body pending for ever after its first frame.
    pub fn stalling(mut self) -> Self {
        self.stalls = true;
        self
    }

    /// Returns the next frame, for callers that need no body.
    pub fn next_frame(&mut self) -> Option<Bytes> {
        let left = self.length - self.position;
        if left == 0 {
            return None;
        }
        let size = usize::try_from(left).map_or(self.frame, |left| left.min(self.frame));
        let start = (self.position % PERIOD as u64) as usize;
        self.position += size as u64;
        Some(Bytes::from_static(&MEMORY[start..start + size]))
    }
}

impl Body for Pattern {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.stalls && self.position > 0 {
            return Poll::Pending;
        }
        Poll::Ready(self.next_frame().map(|data| Ok(Frame::data(data))))
    }

    fn size_hint(&self) -> SizeHint {
        if self.says_length {
            SizeHint::with_exact(self.length - self.position)
        } else {
            SizeHint::default()
        }
    }
}

/// Returns whether `content` is the content of a [`Pattern`] of `length` bytes.
pub fn is_whole(content: &[u8], length: u64) -> bool {
    content.len() as u64 == length
        && content.chunks(PERIOD).all(|chunk| *chunk == MEMORY[..chunk.len()])
}

/// Makes the memory of the content now. Otherwise its first use makes it, which may be inside of a
/// measurement.
pub fn prepare() {
    LazyLock::force(&MEMORY);
}

/// The largest frame, in bytes.
pub const FRAME_MAX: usize = 1 << 20;

/// The period of the content in bytes. It is a prime, so that content with a lost, repeated or moved
/// block of pages is never correct.
const PERIOD: usize = 1_000_003;

/// One period, and the bytes that a frame at its end continues with.
static MEMORY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut memory: Vec<u8> = (0..PERIOD)
        .map(|_| {
            // xorshift64, so that no byte predicts the next one.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[7]
        })
        .collect();
    memory.extend_from_within(..PERIOD.min(FRAME_MAX));
    memory.extend_from_within(..FRAME_MAX.saturating_sub(PERIOD));
    memory
});
