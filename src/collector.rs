//! The one loop: frames of a body in, content and trailers out.
//!
//! What a length means is in `content_length.rs`, how much is reserved in
//! `reserve.rs`, where the bytes are in `content.rs`, and how they get room in
//! `collector/memory.rs`.

mod memory;

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use bytes::buf::Take;
use http::HeaderMap;
use http_body::{Body, SizeHint};

use self::memory::Refused;
use crate::budget::Account;
use crate::content::Content;
use crate::options::{Options, Target};
use crate::{CollectError, CollectStats, Collected, ContentLength, Mismatch, Partial, Progress};

/// A body that is being read. `D` is the data of its frames.
pub(crate) struct Collector<D> {
    options: Options,
    stage: Stage,
    /// What is expected in all, until the body is longer than that.
    expected: Option<u64>,
    content: Content,
    /// The bytes of a frame that are not in the content yet, since memory is waited for.
    in_hand: Option<Take<D>>,
    /// The body's account with the budget.
    account: Option<Account>,
    trailers: Option<HeaderMap>,
    received: u64,
    frames: u64,
    /// Frames without content since the last that had some.
    idle_frames: u32,
    /// Frames without content since anybody else had a turn.
    idle_in_one_go: u32,
}

enum Stage {
    Unread,
    Reading,
    /// The content is complete, as the prefix of a longer one or as it is.
    Ending {
        truncated: bool,
    },
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

impl<D: Buf> Collector<D> {
    /// Reads into memory of its own.
    pub(crate) fn new(options: Options) -> Self {
        // Only `Bytes` can give memory back.
        let pool = options.reuse.pool.clone().filter(|_| options.target == Target::Bytes);
        Self::with(options, Content::new(pool))
    }

    /// Reads to where `content` ends.
    pub(crate) fn with(options: Options, content: Content) -> Self {
        Self {
            options,
            stage: Stage::Unread,
            expected: None,
            content,
            in_hand: None,
            account: None,
            trailers: None,
            received: 0,
            frames: 0,
            idle_frames: 0,
            idle_in_one_go: 0,
        }
    }

    /// Reads until the end of the body. Not to be called again once it is ready.
    pub(crate) fn poll<B: Body<Data = D>>(
        &mut self,
        mut body: Pin<&mut B>,
        cx: &mut Context<'_>,
        on_progress: &mut impl FnMut(Progress),
    ) -> Poll<Result<Finished, CollectError<B::Error>>> {
        self.idle_in_one_go = 0;
        loop {
            match self.stage {
                Stage::Unread => self.start(body.is_end_stream(), body.size_hint())?,
                Stage::Ending { truncated } => return self.poll_finish(cx, truncated),
                Stage::Reading if self.in_hand.is_some() => {
                    ready!(self.poll_store(cx))?;
                    if self.stored()? {
                        on_progress(self.progress());
                    }
                }
                Stage::Reading => match ready!(body.as_mut().poll_frame(cx)) {
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(data) if data.has_remaining() => self.take_in(data)?,
                        Ok(_empty) => ready!(self.poll_idle(cx))?,
                        Err(other) => {
                            if let Ok(trailers) = other.into_trailers() {
                                self.trailers.get_or_insert(trailers);
                            }
                            ready!(self.poll_idle(cx))?;
                        }
                    },
                    Some(Err(source)) => self.broken(source)?,
                    // Only this is the end. Neither the declared length nor
                    // `is_end_stream` is: trailers come after the last byte.
                    None => self.end()?,
                },
            }
        }
    }

    /// The content that has arrived so far.
    pub(crate) fn take_content(&mut self) -> Content {
        std::mem::take(&mut self.content)
    }

    /// Puts back what has been taken.
    pub(crate) fn put_content(&mut self, content: Content) {
        self.content = content;
    }

    /// Decides what to go by, and refuses what cannot be read.
    fn start<E>(&mut self, is_end_stream: bool, hint: SizeHint) -> Result<(), CollectError<E>> {
        self.stage = Stage::Reading;
        if is_end_stream {
            // The transport knows that no content comes, as after a HEAD request, and a
            // length that the caller read from the head is not held against it.
            self.options.content_length = ContentLength::Exact(0);
            self.stage = Stage::Ending { truncated: false };
            return Ok(());
        }
        let hint = if self.options.no_content { SizeHint::default() } else { hint };
        let (length, declared) = self.options.content_length.believed(hint);
        self.options.content_length = length;
        self.expected = length.value().or_else(|| {
            let guess = self.options.reuse.history.as_ref()?.expected()?;
            Some(guess.min(self.options.bounds.eager))
        });
        let limit = self.options.bounds.limit;
        if declared > limit {
            if !self.options.prefix {
                return Err(CollectError::DeclaredTooLarge { declared, limit });
            }
            if limit == 0 {
                self.stage = Stage::Ending { truncated: true };
                return Ok(());
            }
        }
        match &self.options.reuse.budget {
            Some(budget) if limit > budget.capacity() => Err(self.refused(Refused::Budget(limit))),
            // An exact length that could only fail after most of it has come.
            Some(budget) if self.exact().is_some() && self.claim() > budget.capacity() => {
                let claim = self.claim();
                Err(self.refused(Refused::Budget(claim)))
            }
            _ => Ok(()),
        }
    }

    /// The declared length, where it is exact and within the limit.
    fn exact(&self) -> Option<u64> {
        match self.options.content_length {
            ContentLength::Exact(length) if length <= self.options.bounds.limit => Some(length),
            _ => None,
        }
    }

    /// What this body claims of a budget.
    fn claim(&self) -> u64 {
        self.options.bounds.claim(self.exact())
    }

    /// Takes the data of one frame in hand, as far as the limit lets it.
    fn take_in<E>(&mut self, data: D) -> Result<(), CollectError<E>> {
        let before = self.received;
        // Asked once: what is counted is what can be stored at the most, even of a `Buf`
        // that lies.
        let len = data.remaining();
        self.received = before.saturating_add(len as u64);
        self.frames += 1;
        self.idle_frames = 0;
        let room = usize::try_from(self.options.bounds.limit - before).unwrap_or(usize::MAX);
        let in_hand = data.take(len.min(room));
        if self.expected.is_some_and(|expected| self.received > expected) {
            self.expected = None;
        }
        match self.options.content_length {
            ContentLength::Exact(declared)
                if self.received > declared
                    && self.received <= self.options.bounds.limit
                    && self.options.mismatch == Mismatch::Reject =>
            {
                Err(CollectError::Longer {
                    declared,
                    received: self.received,
                    partial: self.take_partial(),
                })
            }
            _ => {
                self.in_hand = Some(in_hand).filter(Buf::has_remaining);
                // Over a limit of nothing there is nothing to store.
                if self.in_hand.is_none() { self.stored().map(drop) } else { Ok(()) }
            }
        }
    }

    /// What is in hand is stored. False where reading stops with it.
    fn stored<E>(&mut self) -> Result<bool, CollectError<E>> {
        let limit = self.options.bounds.limit;
        let is_over = self.received > limit;
        if self.options.prefix {
            // Of a body that declares more than the prefix nothing else need be awaited.
            let declares_more =
                matches!(self.options.content_length, ContentLength::Exact(n) if n > limit);
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

    /// What is declared is passed on as long as it can be right.
    fn progress(&self) -> Progress {
        let declared = self.options.content_length.value();
        let received = self.received;
        Progress { received, expected: declared.filter(|&declared| received <= declared) }
    }

    /// Counts a frame without content. A flood of them gives way to other tasks and
    /// comes to an end.
    fn poll_idle<E>(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), CollectError<E>>> {
        self.idle_frames += 1;
        self.idle_in_one_go += 1;
        if self.idle_frames >= IDLE_FRAMES_MAX {
            return Poll::Ready(Err(self.stalled()));
        }
        if self.idle_in_one_go >= IDLE_FRAMES_IN_ONE_GO {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    /// The body has ended.
    fn end<E>(&mut self) -> Result<(), CollectError<E>> {
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
            _ => {
                self.stage = Stage::Ending { truncated: false };
                Ok(())
            }
        }
    }

    /// The body has failed, which takes nothing away from content that is complete.
    fn broken<E>(&mut self, source: E) -> Result<(), CollectError<E>> {
        let complete = self.options.content_length == ContentLength::Exact(self.received)
            && !self.options.checked_at_end;
        if complete && (!self.options.trailers_announced || self.trailers.is_some()) {
            self.stage = Stage::Ending { truncated: false };
            return Ok(());
        }
        Err(CollectError::Body {
            source,
            declared: self.options.content_length.value(),
            received: self.received,
            partial: self.take_partial(),
        })
    }

    /// Makes one buffer of the content, and gives it out.
    fn poll_finish<E>(
        &mut self,
        cx: &mut Context<'_>,
        truncated: bool,
    ) -> Poll<Result<Finished, CollectError<E>>> {
        if self.content.is_in_blocks() {
            match ready!(self.poll_join(cx)) {
                Ok(()) => {}
                Err(refused) => return Poll::Ready(Err(self.refused(refused))),
            }
        }
        self.trim();
        if let (Some(history), false, None) =
            (&self.options.reuse.history, truncated, self.options.content_length.value())
        {
            history.observe(self.received);
        }
        let content = self.take_content();
        let stats = CollectStats {
            content_length: self.options.content_length,
            received: self.received,
            frames: self.frames,
            reservations: content.reservations(),
            peak: content.peak() as u64,
        };
        let trailers = self.trailers.take();
        Poll::Ready(Ok(Finished { content, trailers, stats, truncated }))
    }

    fn stalled<E>(&mut self) -> CollectError<E> {
        CollectError::Stalled {
            frames: self.idle_frames,
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

/// A stall: no sender has a reason for this many frames without content in a row.
const IDLE_FRAMES_MAX: u32 = 16_384;

/// Frames without content that are taken in one go.
const IDLE_FRAMES_IN_ONE_GO: u32 = 64;
