//! Why a body could not be read, in numbers.

use std::error::Error;
use std::fmt;

use bytes::Bytes;

#[cfg(feature = "json")]
use crate::JsonError;
use crate::Partial;

/// Why a body could not be read. All sizes are in bytes of content as delivered.
///
/// What had arrived can be taken out with [`into_partial`](Self::into_partial).
/// `E` is the error of the body, and nothing is asked of it; where it is an
/// [`Error`], it is the [`source`](Error::source), and this is an error too. A boxed error is
/// none; [`map_body`](Self::map_body) makes one of it.
#[derive(Debug)]
#[non_exhaustive]
pub enum CollectError<E> {
    /// The declared length is above the limit. The body was not polled and nothing
    /// was allocated.
    #[non_exhaustive]
    DeclaredTooLarge {
        /// What the head or the size hint of the body declared.
        declared: u64,
        /// Most bytes the caller takes.
        limit: u64,
    },
    /// More arrived than the limit.
    #[non_exhaustive]
    TooLarge {
        /// Most bytes the caller takes.
        limit: u64,
        /// Bytes that had arrived with the frame that went over the limit.
        received: u64,
        /// The first `limit` of them, or as many as a full budget had room for.
        partial: Partial,
    },
    /// The body ended before its declared length: bytes are missing.
    #[non_exhaustive]
    Incomplete {
        /// What the head or the size hint of the body declared.
        declared: u64,
        /// Bytes that arrived.
        received: u64,
        /// Those bytes.
        partial: Partial,
    },
    /// The body went on after its declared length. Only
    /// [`Mismatch::Reject`](crate::Mismatch::Reject) makes this an error.
    #[non_exhaustive]
    Longer {
        /// What the head or the size hint of the body declared.
        declared: u64,
        /// Bytes that had arrived with the frame that went over the declared length.
        received: u64,
        /// The bytes before that frame.
        partial: Partial,
    },
    /// The allocator, or the address space, has no room for the bytes that came.
    #[non_exhaustive]
    OutOfMemory {
        /// Size of the reservation that failed.
        requested: u64,
        /// Bytes that had arrived.
        received: u64,
        /// Those of them that there was memory for.
        partial: Partial,
    },
    /// The [`MemoryBudget`](crate::MemoryBudget) has no room for the body: never, or not now
    /// and it was not to be waited for.
    #[non_exhaustive]
    Budget {
        /// Bytes that were asked for.
        requested: u64,
        /// The whole budget.
        budget: u64,
        /// Bytes that had arrived.
        received: u64,
        /// Those of them that there was room for.
        partial: Partial,
    },
    /// The body yields frame after frame without a byte of content in them, or data that
    /// claims to have bytes and gives none.
    #[non_exhaustive]
    Stalled {
        /// Frames without content in a row.
        frames: u32,
        /// Bytes that had arrived before them.
        received: u64,
        /// Those bytes.
        partial: Partial,
    },
    /// The content is not UTF-8, and text was asked for.
    #[non_exhaustive]
    InvalidUtf8 {
        /// Bytes at the start that are UTF-8.
        valid_up_to: u64,
        /// The whole content.
        partial: Partial,
    },
    /// The content is not the JSON that was asked for: not JSON at all, or of another type. Of
    /// what was read nothing is missing.
    #[cfg(feature = "json")]
    #[cfg_attr(docsrs, doc(cfg(feature = "json")))]
    #[non_exhaustive]
    InvalidJson {
        /// Which kind of error it is, and where.
        source: JsonError,
        /// The whole content.
        partial: Partial,
    },
    /// The body failed: the transport, or a layer between it and the reader.
    #[non_exhaustive]
    Body {
        /// The error of the body.
        source: E,
        /// The declared length, exact or hinted, if there was one.
        declared: Option<u64>,
        /// Bytes that had arrived.
        received: u64,
        /// Those bytes.
        partial: Partial,
    },
}

impl<E> CollectError<E> {
    /// Whether the limit is what stopped it, before the first byte or later.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::DeclaredTooLarge { .. } | Self::TooLarge { .. })
    }

    /// The same error with another in place of the body's.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::error::Error;
    /// use std::io;
    /// use presized::CollectError;
    ///
    /// // `Box<dyn Error>` is not an `Error`, and so neither is what it makes of this one.
    /// fn to_io(error: CollectError<Box<dyn Error + Send + Sync>>) -> io::Error {
    ///     io::Error::other(error.map_body(io::Error::other))
    /// }
    /// ```
    pub fn map_body<T>(self, map: impl FnOnce(E) -> T) -> CollectError<T> {
        match self {
            Self::DeclaredTooLarge { declared, limit } => {
                CollectError::DeclaredTooLarge { declared, limit }
            }
            Self::TooLarge { limit, received, partial } => {
                CollectError::TooLarge { limit, received, partial }
            }
            Self::Incomplete { declared, received, partial } => {
                CollectError::Incomplete { declared, received, partial }
            }
            Self::Longer { declared, received, partial } => {
                CollectError::Longer { declared, received, partial }
            }
            Self::OutOfMemory { requested, received, partial } => {
                CollectError::OutOfMemory { requested, received, partial }
            }
            Self::Budget { requested, budget, received, partial } => {
                CollectError::Budget { requested, budget, received, partial }
            }
            Self::Stalled { frames, received, partial } => {
                CollectError::Stalled { frames, received, partial }
            }
            Self::InvalidUtf8 { valid_up_to, partial } => {
                CollectError::InvalidUtf8 { valid_up_to, partial }
            }
            #[cfg(feature = "json")]
            Self::InvalidJson { source, partial } => CollectError::InvalidJson { source, partial },
            Self::Body { source, declared, received, partial } => {
                CollectError::Body { source: map(source), declared, received, partial }
            }
        }
    }

    /// Bytes that had arrived, whether or not they could be kept.
    pub fn received(&self) -> u64 {
        match self {
            Self::DeclaredTooLarge { .. } => 0,
            Self::InvalidUtf8 { partial, .. } => partial.len() as u64,
            #[cfg(feature = "json")]
            Self::InvalidJson { partial, .. } => partial.len() as u64,
            Self::TooLarge { received, .. }
            | Self::Incomplete { received, .. }
            | Self::Longer { received, .. }
            | Self::OutOfMemory { received, .. }
            | Self::Budget { received, .. }
            | Self::Stalled { received, .. }
            | Self::Body { received, .. } => *received,
        }
    }

    /// The bytes that had arrived and were kept: the whole beginning of the body, up
    /// to the failure. [`Partial::into_bytes`] tells what is left where memory is short.
    ///
    /// Empty after [`Collect::into_buf`](crate::Collect::into_buf), which leaves them
    /// in the caller's buffer. Fewer than [`received`](Self::received) where a frame went over
    /// a limit.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use http_body_util::Full;
    /// use presized::{CollectError, collect_presized};
    ///
    /// let body = Full::<bytes::Bytes>::from("hello");
    /// let error = collect_presized(body, None, 4).await.unwrap_err();
    /// assert!(matches!(error, CollectError::DeclaredTooLarge { declared: 5, limit: 4, .. }));
    /// // The body knew its length, so nothing was read.
    /// println!("{error}");
    /// assert_eq!(error.into_partial(), "");
    /// # }
    /// ```
    pub fn into_partial(self) -> Bytes {
        match self {
            Self::DeclaredTooLarge { .. } => Bytes::new(),
            Self::TooLarge { partial, .. }
            | Self::Incomplete { partial, .. }
            | Self::Longer { partial, .. }
            | Self::OutOfMemory { partial, .. }
            | Self::Budget { partial, .. }
            | Self::Stalled { partial, .. }
            | Self::InvalidUtf8 { partial, .. }
            | Self::Body { partial, .. } => partial.into_bytes(),
            #[cfg(feature = "json")]
            Self::InvalidJson { partial, .. } => partial.into_bytes(),
        }
    }
}

impl<E> fmt::Display for CollectError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeclaredTooLarge { declared, limit } => {
                write!(f, "body declares {declared} bytes, over the limit of {limit} bytes")
            }
            Self::TooLarge { limit, received, .. } => {
                write!(f, "body is over the limit of {limit} bytes: {received} bytes received")
            }
            Self::Incomplete { declared, received, .. } => {
                write!(f, "body ended early: {received} of {declared} declared bytes received")
            }
            Self::Longer { declared, received, .. } => {
                write!(
                    f,
                    "body is longer than declared: {received} bytes received, {declared} declared"
                )
            }
            Self::OutOfMemory { requested, received, .. } => {
                write!(f, "no memory for {requested} bytes of body: {received} bytes received")
            }
            Self::Budget { requested, budget, received, .. } => {
                write!(
                    f,
                    "budget of {budget} bytes has no room for {requested} bytes of body: \
                     {received} bytes received"
                )
            }
            Self::Stalled { frames, received, .. } => {
                write!(
                    f,
                    "body makes no progress: {frames} empty frames in a row after {received} bytes"
                )
            }
            Self::InvalidUtf8 { valid_up_to, partial } => {
                let received = partial.len();
                write!(f, "body is not UTF-8 from byte {valid_up_to} of {received}")
            }
            #[cfg(feature = "json")]
            Self::InvalidJson { partial, .. } => {
                let received = partial.len();
                write!(f, "body is not the JSON that was asked for: {received} bytes received")
            }
            Self::Body { declared: Some(declared), received, .. } => {
                write!(f, "body failed: {received} of {declared} declared bytes received")
            }
            Self::Body { declared: None, received, .. } => {
                write!(f, "body failed: {received} bytes received")
            }
        }
    }
}

impl<E: Error + 'static> Error for CollectError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Body { source, .. } => Some(source),
            #[cfg(feature = "json")]
            Self::InvalidJson { source, .. } => Some(source),
            _ => None,
        }
    }
}
