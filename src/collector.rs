//! The loop that reads a body: frames go in, content and trailers come out.
//!
//! `declared.rs` decides what a length means, and `reserve.rs` how much is reserved. `content.rs`
//! stores the bytes, and `collector/memory.rs` makes room for them.

mod memory;
mod outcome;
mod rate;
mod trailers;

use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use bytes::buf::Take;
use http::HeaderMap;
use http_body::{Body, SizeHint};

use self::memory::Refused;
pub(crate) use self::outcome::Finished;
use self::rate::Period;
use crate::budget::Account;
use crate::content::Content;
use crate::declared::Expectation;
use crate::options::{Options, Target};
use crate::reserve::Bounds;
use crate::{CollectError, MemoryBudget, Progress};

/// The state of one read. `D` is the data of the frames.
pub(crate) struct Collector<D> {
    options: Options,
    bounds: Bounds,
    stage: Stage,
    /// Decided by `start`.
    expectation: Expectation,
    /// The length that memory is reserved for, declared or predicted. `None` once it is known to
    /// be wrong.
    predicted: Option<u64>,
    /// A buffer that is larger than needed was refused.
    is_scarce: bool,
    content: Content,
    /// The bytes of a frame that wait for memory.
    pending: Option<Take<D>>,
    /// The account of this body with the budget.
    account: Option<Account>,
    /// Bytes of the budget that the last poll waited for.
    awaited: Option<u64>,
    /// The period of the minimum rate that runs.
    period: Option<Period>,
    trailers: Option<HeaderMap>,
    received: u64,
    frames: u64,
    /// Empty frames since the last frame with content.
    idle_frames: u32,
    /// The work of this poll or the last, in bytes. Each frame adds its length and `FRAME_WORK`.
    work: u64,
}

enum Stage {
    Unread,
    Reading,
    /// The content is complete, or is the prefix of longer content.
    Ending {
        truncated: bool,
    },
}

impl<D: Buf> Collector<D> {
    /// Reads into new memory.
    pub(crate) fn new(options: Options) -> Self {
        // Only `Bytes` can return a buffer to its pool.
        let pool = options.reader.get_pool().filter(|_| options.target == Target::Bytes);
        let content = Content::new(pool.cloned());
        Self::with(options, content)
    }

    /// Appends to `content`.
    pub(crate) fn with(options: Options, content: Content) -> Self {
        Self {
            bounds: options.reader.bounds(),
            options,
            stage: Stage::Unread,
            expectation: Expectation::default(),
            predicted: None,
            is_scarce: false,
            content,
            pending: None,
            account: None,
            awaited: None,
            period: None,
            trailers: None,
            received: 0,
            frames: 0,
            idle_frames: 0,
            work: 0,
        }
    }

    /// Reads until the end of the body, or until `until` is ready. It must not be called again once
    /// it is ready.
    pub(crate) fn poll<B: Body<Data = D>>(
        &mut self,
        body: Pin<&mut B>,
        cx: &mut Context<'_>,
        on_progress: &mut impl FnMut(Progress) -> ControlFlow<()>,
        mut until: Pin<&mut impl Future>,
    ) -> Poll<Result<Finished, CollectError<B::Error>>> {
        // tokio bounds the work of a task in one poll. A body that used up that bound in the last
        // poll will do so again, and a timer of tokio is not ready after it.
        let is_over = self.work > 0 && until.as_mut().poll(cx).is_ready();
        // The body goes before the result, so that no body is stopped that is complete. It cannot
        // be ready for ever, because the work of one poll is bounded.
        if let Poll::Ready(result) = self.poll_read(body, cx, on_progress) {
            return Poll::Ready(result);
        }
        if !is_over {
            ready!(until.poll(cx));
        }
        Poll::Ready(Err(self.stopped()))
    }

    fn poll_read<B: Body<Data = D>>(
        &mut self,
        mut body: Pin<&mut B>,
        cx: &mut Context<'_>,
        on_progress: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Poll<Result<Finished, CollectError<B::Error>>> {
        (self.work, self.awaited) = (0, None);
        loop {
            match self.stage {
                Stage::Unread => self.start(body.is_end_stream(), body.size_hint())?,
                Stage::Ending { truncated } => return Poll::Ready(Ok(self.finish(truncated))),
                Stage::Reading if self.pending.is_some() => {
                    ready!(self.poll_store(cx))?;
                    if self.stored()? && on_progress(self.progress()).is_break() {
                        return Poll::Ready(Err(self.stopped()));
                    }
                }
                Stage::Reading if self.work >= WORK_IN_ONE_POLL => {
                    // A body that is always ready would keep the executor to itself.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Stage::Reading => match body.as_mut().poll_frame(cx) {
                    Poll::Pending => return self.poll_too_slow(cx).map(Err),
                    Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                        Ok(data) if data.has_remaining() => self.accept(data)?,
                        Ok(_empty) => {
                            if self.received == 0 && body.is_end_stream() {
                                self.expectation.no_content();
                            }
                            self.idle()?;
                        }
                        Err(other) => {
                            if let Ok(trailers) = other.into_trailers() {
                                self.add_trailers(trailers)?;
                            }
                            self.idle()?;
                        }
                    },
                    Poll::Ready(Some(Err(source))) => self.broken(source)?,
                    // Only `None` is the end. The declared length and `is_end_stream` are not,
                    // because trailers follow the last byte.
                    Poll::Ready(None) => self.end()?,
                },
            }
        }
    }

    /// Takes the content that has arrived so far.
    pub(crate) fn take_content(&mut self) -> Content {
        std::mem::take(&mut self.content)
    }

    /// Puts content back that was taken.
    pub(crate) fn put_content(&mut self, content: Content) {
        self.content = content;
    }

    /// Decides what is expected, and refuses what cannot be read.
    fn start<E>(&mut self, is_end_stream: bool, hint: SizeHint) -> Result<(), CollectError<E>> {
        self.expectation =
            self.options.declared.expectation(&self.options.reader, is_end_stream, hint);
        if is_end_stream {
            self.stage = Stage::Ending { truncated: false };
            return Ok(());
        }
        self.stage = Stage::Reading;
        self.predicted = self.expectation.length.value().or_else(|| {
            let guess = self.options.reader.get_history()?.expected()?;
            Some(guess.min(self.bounds.eager))
        });
        let (declared, limit) = (self.expectation.least, self.bounds.limit);
        if declared > limit {
            if !self.options.prefix {
                return Err(CollectError::DeclaredTooLarge { declared, limit });
            }
            if limit == 0 {
                self.stage = Stage::Ending { truncated: true };
                return Ok(());
            }
        }
        match self.options.reader.get_budget().map(MemoryBudget::capacity) {
            Some(capacity) if limit > capacity => Err(self.refused(Refused::Budget(limit))),
            // A body of this exact length would fail after most of it has arrived.
            Some(capacity) if self.exact().is_some() && self.claim() > capacity => {
                let claim = self.claim();
                Err(self.refused(Refused::Budget(claim)))
            }
            _ => Ok(()),
        }
    }

    /// The declared length, if it is exact and within the limit.
    fn exact(&self) -> Option<u64> {
        self.expectation.exact().filter(|&length| length <= self.bounds.limit)
    }

    /// The most memory that this body can need, in bytes.
    fn claim(&self) -> u64 {
        self.bounds.claim(self.exact())
    }

    /// Accepts the data of one frame, up to the limit.
    fn accept<E>(&mut self, data: D) -> Result<(), CollectError<E>> {
        let before = self.received;
        // Asked once, so that no more is stored than is counted, even from a wrong `Buf`.
        let len = data.remaining();
        self.received = before.saturating_add(len as u64);
        self.frames += 1;
        self.idle_frames = 0;
        self.work = self.work.saturating_add(len as u64).saturating_add(FRAME_WORK);
        let room = usize::try_from(self.bounds.limit - before).unwrap_or(usize::MAX);
        let pending = data.take(len.min(room));
        if self.predicted.is_some_and(|predicted| self.received > predicted) {
            self.predicted = None;
        }
        // Over the limit, the error is about the limit.
        let longer = self.expectation.longer(self.received);
        if let Some(declared) = longer.filter(|_| self.received <= self.bounds.limit) {
            let received = self.received;
            return Err(CollectError::Longer { declared, received, partial: self.take_partial() });
        }
        self.pending = Some(pending).filter(Buf::has_remaining);
        // At a limit of 0 there is nothing to store.
        if self.pending.is_none() { self.stored().map(drop) } else { Ok(()) }
    }

    /// Continues after a frame is stored. Returns false if reading stops here.
    fn stored<E>(&mut self) -> Result<bool, CollectError<E>> {
        let limit = self.bounds.limit;
        let is_over = self.received > limit;
        if self.options.prefix {
            // A body that declares more than the prefix needs no further poll.
            let declares_more = self.expectation.exact().is_some_and(|length| length > limit);
            if is_over || (self.received == limit && declares_more) {
                self.stage = Stage::Ending { truncated: true };
                return Ok(false);
            }
        } else if is_over {
            let received = self.received;
            return Err(CollectError::TooLarge { limit, received, partial: self.take_partial() });
        }
        Ok(true)
    }

    /// The declared length is reported as long as it can be right.
    fn progress(&self) -> Progress {
        let declared = self.expectation.length.value();
        let received = self.received;
        Progress { received, expected: declared.filter(|&declared| received <= declared) }
    }

    /// Counts an empty frame. Many of them in a row are an error.
    fn idle<E>(&mut self) -> Result<(), CollectError<E>> {
        self.idle_frames += 1;
        self.work += FRAME_WORK;
        if self.idle_frames >= IDLE_FRAMES_MAX { Err(self.stalled()) } else { Ok(()) }
    }
}

/// Empty frames in a row after which a body is stalled. No sender has a reason for as many.
const IDLE_FRAMES_MAX: u32 = 16_384;

/// The work of one poll, in bytes, after which the read yields to other tasks.
const WORK_IN_ONE_POLL: u64 = 1 << 20;

/// The work of a frame beside its bytes. It bounds one poll to 256 frames.
const FRAME_WORK: u64 = 4 << 10;
