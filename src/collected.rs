//! What a read gives beside the bytes.

use std::fmt;

use bytes::Bytes;
use http::HeaderMap;

use crate::ContentLength;

/// A body in memory: content, trailers, and how the reading went.
///
/// `Debug` shows how many bytes the content has and never the bytes.
#[derive(Clone)]
#[non_exhaustive]
pub struct Collected {
    /// The content, contiguous.
    pub content: Bytes,
    /// The trailer section. A message has one (RFC 9110 §6.5); of a body that yields
    /// several frames of trailers the first is kept.
    pub trailers: Option<HeaderMap>,
    /// How the reading went.
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

/// How the reading of one body went. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectStats {
    /// The length that was gone by: an exact size hint of the body, or else what the
    /// caller passed, or else the lower bound of the size hint as a hint. `Exact(0)` for a
    /// body that was at its end from the start, and for a response that has no content by its
    /// method and status.
    pub content_length: ContentLength,
    /// Bytes of content that arrived.
    pub received: u64,
    /// Data frames that were not empty.
    pub frames: u64,
    /// How often memory was reserved, from the allocator or a pool; joining blocks and
    /// trimming slack count. 1 for a known length within the eager bound, 0 for a body that
    /// is empty or was handed over as the one frame it came in.
    pub reservations: u32,
    /// Most memory held for the content at one time, both blocks of a reallocation
    /// counted. What the transport holds is not in it.
    pub peak: u64,
}

impl CollectStats {
    /// Whether more arrived than an exact length had promised.
    pub fn is_longer(&self) -> bool {
        matches!(self.content_length, ContentLength::Exact(length) if self.received > length)
    }

    /// Whether less arrived than an exact length had promised, which only
    /// [`Mismatch::Allow`](crate::Mismatch::Allow) lets pass.
    pub fn is_shorter(&self) -> bool {
        matches!(self.content_length, ContentLength::Exact(length) if self.received < length)
    }
}

/// The beginning of a body.
///
/// `Debug` shows how many bytes there are and never the bytes.
#[derive(Clone)]
#[non_exhaustive]
pub struct Prefix {
    /// The first bytes, up to the limit.
    pub content: Bytes,
    /// Whether there was more than that.
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

/// How far the reading of a body has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes received so far.
    pub received: u64,
    /// Bytes that the body was declared to have, exactly or as a hint. `None` where nothing
    /// was declared, and once more than that has arrived.
    pub expected: Option<u64>,
}
