//! The results of a read, and its progress.

use std::fmt;

use bytes::Bytes;
use http::HeaderMap;

use crate::ContentLength;

/// A body in memory: content, trailers and statistics.
///
/// `Debug` shows the number of bytes, and never the bytes.
#[derive(Clone)]
#[non_exhaustive]
pub struct Collected {
    /// The content, contiguous.
    pub content: Bytes,
    /// The trailer section (RFC 9110 §6.5). Several frames of trailers are merged: a field that
    /// several frames have keeps all its values, in the order in which they arrived.
    pub trailers: Option<HeaderMap>,
    /// The statistics of the read.
    pub stats: CollectStats,
}

impl fmt::Debug for Collected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collected")
            .field("content", &format_args!("{} bytes", self.content.len()))
            .field("trailers", &self.trailers)
            .field("stats", &self.stats)
            .finish()
    }
}

/// The statistics of one read. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectStats {
    /// The length that was expected. It is the first of these that is known:
    ///
    /// 1. `Exact(0)`, if the body was at its end from the start or after an empty first frame, or
    ///    if the response has no content by its method and status;
    /// 2. the exact size hint of the body;
    /// 3. the declared length;
    /// 4. the lower bound of the size hint, as a `Hint`.
    pub content_length: ContentLength,
    /// Bytes of content that arrived.
    pub received: u64,
    /// Data frames with content.
    pub frames: u64,
    /// Number of reservations, from the allocator or a pool. Growing and trimming count. It is 1
    /// for a declared length within the eager bound. It is 0 for an empty body, and for a body of
    /// one frame that was handed over.
    pub reservations: u32,
    /// The most memory that was held for the content at one time, with both buffers of a
    /// reallocation. Memory of the transport does not count.
    pub peak: u64,
}

impl CollectStats {
    /// Returns whether more bytes arrived than an exact length declared.
    pub fn is_longer(&self) -> bool {
        matches!(self.content_length, ContentLength::Exact(length) if self.received > length)
    }

    /// Returns whether fewer bytes arrived than an exact length declared. Only
    /// [`Mismatch::Allow`](crate::Mismatch::Allow) accepts that.
    pub fn is_shorter(&self) -> bool {
        matches!(self.content_length, ContentLength::Exact(length) if self.received < length)
    }
}

/// The beginning of a body.
///
/// `Debug` shows the number of bytes, and never the bytes.
#[derive(Clone)]
#[non_exhaustive]
pub struct Prefix {
    /// The first bytes, up to the limit.
    pub content: Bytes,
    /// Whether the body has more bytes.
    pub truncated: bool,
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prefix")
            .field("content", &format_args!("{} bytes", self.content.len()))
            .field("truncated", &self.truncated)
            .finish()
    }
}

/// The progress of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes received so far.
    pub received: u64,
    /// The declared length in bytes, exact or a hint. It is `None` if no length was declared, or if
    /// more bytes than that have arrived.
    pub expected: Option<u64>,
}
