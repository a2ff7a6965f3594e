//! What a read gives beside the bytes.

use bytes::Bytes;
use http::HeaderMap;

use crate::ContentLength;

/// A body in memory: content, trailers, and how the reading went.
#[derive(Clone, Debug)]
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

/// How the reading of one body went. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectStats {
    /// The length that was gone by: an exact size hint of the body, or else what the
    /// caller passed, or else the lower bound of the size hint as a hint.
    pub content_length: ContentLength,
    /// Bytes of content that arrived.
    pub received: u64,
    /// Data frames that were not empty.
    pub frames: u64,
    /// How often memory was reserved: 1 for a known length within the eager bound, 0
    /// for a body that is empty or was handed over as the one frame it came in.
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
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Prefix {
    /// The first bytes, up to the limit.
    pub content: Bytes,
    /// Whether there was more than that.
    pub truncated: bool,
}

/// How far the reading of a body has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes received so far.
    pub received: u64,
    /// Bytes expected in all. A hint, where the number is one; it can be passed.
    pub expected: Option<u64>,
}
