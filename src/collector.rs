//! The one loop: frames of a body in, content and trailers out.
//!
//! What a length means is in `content_length.rs`, how much is reserved in
//! `reserve.rs`, where the bytes are in `content.rs`.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http::HeaderMap;
use http_body::{Body, SizeHint};

use crate::collect::Mismatch;
use crate::content::{Content, OutOfMemory};
use crate::reserve::Bounds;
use crate::{CollectError, CollectStats, Collected, ContentLength, Partial, Progress};

/// How one body is to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) bounds: Bounds,
    pub(crate) content_length: ContentLength,
    pub(crate) mismatch: Mismatch,
    /// Trailers were announced, so a body without them is not whole.
    pub(crate) trailers_announced: bool,
    /// Where the content goes.
    pub(crate) target: Target,
    /// The limit is where reading stops, and not an error.
    pub(crate) prefix: bool,
}

/// Where content goes, as far as it makes a difference to the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// `Bytes`, which can be a frame of the body as it came.
    Bytes,
    /// A buffer of its own.
    Vec,
    /// The caller's buffer, where what has arrived stays if reading fails.
    Lent,
}

/// A body that is being read.
pub(crate) struct Collector {
    options: Options,
    started: bool,
    /// What is expected in all, until the body is longer than that.
    expected: Option<u64>,
    content: Content,
    trailers: Option<HeaderMap>,
    received: u64,
    frames: u64,
    /// Frames without content since the last that had some.
    idle_frames: u32,
}

/// A body that has been read: the content, contiguous, and what came with it.
pub(crate) struct Finished {
    pub(crate) content: Content,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) stats: CollectStats,
    /// Reading stopped at the limit of a prefix.
    pub(crate) truncated: bool,
}

impl From<Finished> for Collected {
    fn from(finished: Finished) -> Self {
        Self {
            content: finished.content.into_bytes(),
            trailers: finished.trailers,
            stats: finished.stats,
        }
    }
}

impl Collector {
    pub(crate) fn new(options: Options, content: Content) -> Self {
        Self {
            options,
            started: false,
            expected: None,
            content,
            trailers: None,
            received: 0,
            frames: 0,
            idle_frames: 0,
        }
    }

    /// Reads until the end of the body. Not to be called again once it is ready.
    pub(crate) fn poll<B: Body>(
        &mut self,
        mut body: Pin<&mut B>,
        cx: &mut Context<'_>,
        on_progress: &mut impl FnMut(Progress),
    ) -> Poll<Result<Finished, CollectError<B::Error>>> {
        if !self.started {
            self.started = true;
            if body.is_end_stream() {
                // The transport knows that no content comes, as after a HEAD request, and
                // a length that the caller read from the head is not held against it.
                self.options.content_length = ContentLength::Exact(0);
                return Poll::Ready(self.finish(false));
            }
            self.start(body.size_hint())?;
        }
        loop {
            let frame = match ready!(body.as_mut().poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                Some(Err(source)) => return Poll::Ready(self.broken(source)),
                // Only this is the end. Neither the declared length nor
                // `is_end_stream` is: trailers come after the last byte.
                None => return Poll::Ready(self.end()),
            };
            match frame.into_data() {
                Ok(data) if data.has_remaining() => {
                    self.idle_frames = 0;
                    self.frames += 1;
                    if self.data(data)? {
                        return Poll::Ready(self.finish(true));
                    }
                    on_progress(Progress { received: self.received, expected: self.expected });
                }
                Ok(_empty) => ready!(self.idle(cx))?,
                Err(other) => {
                    if let Ok(trailers) = other.into_trailers() {
                        self.trailers.get_or_insert(trailers);
                    }
                    ready!(self.idle(cx))?;
                }
            }
        }
    }

    /// The content that has arrived so far.
    pub(crate) fn take_content(&mut self) -> Content {
        std::mem::take(&mut self.content)
    }

    /// Decides what to go by, and refuses what is declared too large.
    fn start<E>(&mut self, hint: SizeHint) -> Result<(), CollectError<E>> {
        let length = match (hint.exact(), self.options.content_length) {
            // The transport has applied the framing rules to the whole message.
            (Some(exact), _) => ContentLength::Exact(exact),
            (None, known @ (ContentLength::Exact(_) | ContentLength::Hint(_))) => known,
            (None, none) if hint.lower() == 0 => none,
            (None, _) => ContentLength::Hint(hint.lower()),
        };
        self.options.content_length = length;
        self.expected = length.value();
        let declared = match length {
            ContentLength::Exact(declared) => declared.max(hint.lower()),
            // Coded bytes say nothing about what is delivered, the body itself does.
            _ => hint.lower(),
        };
        let limit = self.options.bounds.limit;
        if declared > limit && !self.options.prefix {
            return Err(CollectError::DeclaredTooLarge { declared, limit });
        }
        Ok(())
    }

    /// Takes the data of one frame in. True means that a prefix is complete.
    fn data<E>(&mut self, mut data: impl Buf) -> Result<bool, CollectError<E>> {
        let limit = self.options.bounds.limit;
        let before = self.received;
        // Saturates only where a `Buf` lies; then there is no memory for it either.
        self.received = before.saturating_add(data.remaining() as u64);
        if self.received > limit {
            let room = usize::try_from(limit - before).unwrap_or(usize::MAX);
            self.store(limit, data.take(room))?;
            if self.options.prefix {
                return Ok(true);
            }
            return Err(CollectError::TooLarge {
                limit,
                received: self.received,
                partial: self.take_partial(),
            });
        }
        if self.expected.is_some_and(|expected| self.received > expected) {
            self.expected = None;
            match self.options.content_length {
                ContentLength::Exact(declared) if self.options.mismatch == Mismatch::Reject => {
                    return Err(CollectError::Longer {
                        declared,
                        received: self.received,
                        partial: self.take_partial(),
                    });
                }
                _ => {}
            }
        }
        self.store(self.received, &mut data)?;
        // Of a body that declares more than the prefix nothing else need be awaited.
        Ok(self.options.prefix
            && self.received == limit
            && matches!(self.options.content_length, ContentLength::Exact(n) if n > limit))
    }

    /// Puts `data`, with which `received` bytes have arrived, behind what is there.
    fn store<E>(&mut self, received: u64, mut data: impl Buf) -> Result<(), CollectError<E>> {
        if !data.has_remaining() {
            return Ok(());
        }
        if self.may_be_whole(received, &data) {
            self.content.hold(data.copy_to_bytes(data.remaining()));
            return Ok(());
        }
        self.content.fill(&mut data);
        while data.has_remaining() {
            let held = self.content.capacity() as u64;
            let reserved = match self.options.bounds.next(self.expected, held, received) {
                Ok(step) => self.content.reserve(step).map_err(|OutOfMemory(bytes)| bytes as u64),
                Err(unaddressable) => Err(unaddressable),
            };
            if let Err(requested) = reserved {
                return Err(self.out_of_memory(requested));
            }
            self.content.fill(&mut data);
        }
        Ok(())
    }

    /// Whether a frame can be the whole body and is large enough to be the result.
    fn may_be_whole(&self, received: u64, frame: &impl Buf) -> bool {
        let len = frame.remaining();
        self.options.target == Target::Bytes
            && len >= HAND_OVER_FROM
            && received == len as u64
            // Data in several places is copied to be `Bytes`, by an allocation that
            // aborts where there is no memory for it.
            && frame.chunk().len() == len
            && self.expected.is_none_or(|expected| expected <= received)
    }

    /// Counts a frame without content. A flood of them gives way to other tasks and
    /// comes to an end.
    fn idle<E>(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), CollectError<E>>> {
        self.idle_frames += 1;
        if self.idle_frames >= IDLE_FRAMES_MAX {
            return Poll::Ready(Err(CollectError::Stalled {
                frames: self.idle_frames,
                received: self.received,
                partial: self.take_partial(),
            }));
        }
        if self.idle_frames % IDLE_FRAMES_PER_POLL == 0 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    /// The body has ended.
    fn end<E>(&mut self) -> Result<Finished, CollectError<E>> {
        match self.options.content_length {
            ContentLength::Exact(declared)
                if self.received < declared && self.options.mismatch != Mismatch::Allow =>
            {
                Err(CollectError::Incomplete {
                    declared,
                    received: self.received,
                    partial: self.take_partial(),
                })
            }
            _ => self.finish(false),
        }
    }

    /// The body has failed, which takes nothing away from content that is complete.
    fn broken<E>(&mut self, source: E) -> Result<Finished, CollectError<E>> {
        let complete = self.options.content_length == ContentLength::Exact(self.received);
        if complete && (!self.options.trailers_announced || self.trailers.is_some()) {
            return self.finish(false);
        }
        Err(CollectError::Body {
            source,
            declared: self.options.content_length.value(),
            received: self.received,
            partial: self.take_partial(),
        })
    }

    fn finish<E>(&mut self, truncated: bool) -> Result<Finished, CollectError<E>> {
        if let Err(OutOfMemory(bytes)) = self.content.make_contiguous() {
            return Err(self.out_of_memory(bytes as u64));
        }
        if self.options.target != Target::Lent {
            self.content.trim();
        }
        let content = self.take_content();
        let stats = CollectStats {
            content_length: self.options.content_length,
            received: self.received,
            frames: self.frames,
            reservations: content.reservations(),
            peak: content.peak() as u64,
        };
        Ok(Finished { content, trailers: self.trailers.take(), stats, truncated })
    }

    fn out_of_memory<E>(&mut self, requested: u64) -> CollectError<E> {
        CollectError::OutOfMemory {
            requested,
            received: self.received,
            partial: self.take_partial(),
        }
    }

    fn take_partial(&mut self) -> Partial {
        match self.options.target {
            Target::Bytes | Target::Vec => Partial::new(self.take_content()),
            Target::Lent => Partial::default(),
        }
    }
}

/// From this size on a body that is one frame is handed over as it is; below, the
/// frame is copied out, since it keeps the read buffer alive that it is a slice of.
const HAND_OVER_FROM: usize = 32 << 10;

/// A stall: no sender has a reason for this many frames without content in a row.
const IDLE_FRAMES_MAX: u32 = 16_384;

/// Frames without content that are taken in one go.
const IDLE_FRAMES_PER_POLL: u32 = 64;
