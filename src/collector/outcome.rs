//! How a read ends: its result and its errors.

use bytes::Buf;
use http::HeaderMap;

use super::{Collector, Stage};
use crate::content::Content;
use crate::options::Target;
use crate::{CollectError, CollectStats, Collected, Partial};

/// The result of a read. The content is contiguous.
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
    /// The body has ended.
    pub(super) fn end<E>(&mut self) -> Result<(), CollectError<E>> {
        if let Some(declared) = self.expectation.shorter(self.received) {
            let (received, partial) = (self.received, self.take_partial());
            return Err(CollectError::Incomplete { declared, received, partial });
        }
        self.stage = Stage::Ending { truncated: false };
        Ok(())
    }

    /// The body has failed. Content that is complete stays complete.
    pub(super) fn broken<E>(&mut self, source: E) -> Result<(), CollectError<E>> {
        if self.expectation.is_complete(self.received, self.trailers.is_some()) {
            self.stage = Stage::Ending { truncated: false };
            return Ok(());
        }
        Err(CollectError::Body {
            source,
            declared: self.expectation.length.value(),
            received: self.received,
            partial: self.take_partial(),
        })
    }

    /// Returns the content and what came with it.
    pub(super) fn finish(&mut self, truncated: bool) -> Finished {
        self.trim();
        if let (Some(history), false, None) =
            (self.options.reader.get_history(), truncated, self.expectation.length.value())
        {
            history.observe(self.received);
        }
        let content = self.take_content();
        let stats = CollectStats {
            content_length: self.expectation.length,
            received: self.received,
            frames: self.frames,
            reservations: content.reservations(),
            peak: content.peak() as u64,
        };
        let trailers = self.trailers.take();
        Finished { content, trailers, stats, truncated }
    }

    pub(super) fn stalled<E>(&mut self) -> CollectError<E> {
        CollectError::Stalled {
            frames: self.idle_frames,
            received: self.received,
            partial: self.take_partial(),
        }
    }

    /// The caller ends the read.
    pub(super) fn stopped<E>(&mut self) -> CollectError<E> {
        CollectError::Stopped {
            declared: self.expectation.length.value(),
            received: self.received,
            awaited: self.awaited,
            partial: self.take_partial(),
        }
    }

    pub(super) fn take_partial(&mut self) -> Partial {
        match self.options.target {
            Target::Bytes | Target::Vec => Partial::new(self.take_content()),
            Target::Lent => Partial::default(),
        }
    }
}
