//! Errors of reading a body.

mod map;
mod refusal;
mod traits;

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;

use self::refusal::Refusal;
#[cfg(feature = "json")]
use crate::JsonError;
use crate::Partial;

/// The error of reading a body. All sizes count bytes of content, in the form in which the body
/// delivers it.
///
/// [`partial`](Self::partial) and [`into_partial`](Self::into_partial) give the bytes that had
/// arrived. `E` is the error of the body and can be any type. If it is an [`Error`], it is the
/// [`source`](Error::source), and this type is an error too. `Box<dyn Error>` is not an [`Error`]:
/// [`boxed`](Self::boxed) converts it.
#[derive(Debug)]
#[non_exhaustive]
pub enum CollectError<E> {
    /// The declared length is above the limit. The body was not polled, and nothing was
    /// allocated.
    #[non_exhaustive]
    DeclaredTooLarge {
        /// The length that the head or the size hint of the body declared. [`u64::MAX`] stands
        /// for every larger number too.
        declared: u64,
        /// The most bytes that the caller accepts.
        limit: u64,
    },
    /// More bytes arrived than the limit allows.
    #[non_exhaustive]
    TooLarge {
        /// The most bytes that the caller accepts.
        limit: u64,
        /// Bytes that had arrived, with the frame that went over the limit.
        received: u64,
        /// The first `limit` bytes, or fewer if the budget was full.
        partial: Partial,
    },
    /// The body ended before its declared length. Bytes are missing.
    #[non_exhaustive]
    Incomplete {
        /// The length that the head or the size hint of the body declared.
        declared: u64,
        /// Bytes that arrived.
        received: u64,
        /// Those bytes.
        partial: Partial,
    },
    /// The body continued after its declared length. Only
    /// [`Mismatch::Reject`](crate::Mismatch::Reject) makes this an error.
    #[non_exhaustive]
    Longer {
        /// The length that the head or the size hint of the body declared.
        declared: u64,
        /// Bytes that had arrived, with the frame that went over the declared length.
        received: u64,
        /// The bytes before that frame.
        partial: Partial,
    },
    /// The allocator or the address space has no room for the bytes that arrived.
    #[non_exhaustive]
    OutOfMemory {
        /// Size of the reservation that failed.
        requested: u64,
        /// Bytes that had arrived.
        received: u64,
        /// The bytes that fitted into memory.
        partial: Partial,
    },
    /// The [`MemoryBudget`](crate::MemoryBudget) has no room for the body. Either the body can
    /// never fit, or it does not fit now and the handle is
    /// [`fail_fast`](crate::MemoryBudget::fail_fast).
    #[non_exhaustive]
    Budget {
        /// Bytes that were requested.
        requested: u64,
        /// The capacity of the budget.
        budget: u64,
        /// Bytes that had arrived.
        received: u64,
        /// The bytes that fitted into the budget.
        partial: Partial,
    },
    /// The body yields one empty frame after another, or data that claims to have bytes and
    /// yields none, or more trailers than a [`HeaderMap`](http::HeaderMap) can hold.
    #[non_exhaustive]
    Stalled {
        /// Empty frames in a row.
        frames: u32,
        /// Bytes that had arrived before them.
        received: u64,
        /// Those bytes.
        partial: Partial,
    },
    /// The caller stopped the read: the future of [`Collect::until`](crate::Collect::until) was
    /// ready first, or [`Collect::on_progress`](crate::Collect::on_progress) ended it.
    #[non_exhaustive]
    Stopped {
        /// The declared length, exact or a hint, if there was one.
        declared: Option<u64>,
        /// Bytes that had arrived.
        received: u64,
        /// Bytes of its [`MemoryBudget`](crate::MemoryBudget) that the read waited for when it was
        /// stopped. `None` if it waited for the body.
        awaited: Option<u64>,
        /// The bytes that had arrived, without a frame that waited for memory.
        partial: Partial,
    },
    /// The body arrived more slowly than the [`MinRate`](crate::MinRate) of the reader.
    #[non_exhaustive]
    TooSlow {
        /// Bytes that arrived in the last period.
        arrived: u64,
        /// Bytes that had to arrive in it.
        required: u64,
        /// The length of the period.
        period: Duration,
        /// Bytes that had arrived.
        received: u64,
        /// Those bytes.
        partial: Partial,
    },
    /// The content is not UTF-8, and text was requested.
    #[non_exhaustive]
    InvalidUtf8 {
        /// Number of bytes at the start that are valid UTF-8.
        valid_up_to: u64,
        /// The whole content.
        partial: Partial,
    },
    /// The content is not JSON, or not JSON of the requested type. The content is complete.
    #[cfg(feature = "json")]
    #[cfg_attr(docsrs, doc(cfg(feature = "json")))]
    #[non_exhaustive]
    InvalidJson {
        /// The kind of the error and its position.
        source: JsonError,
        /// The whole content.
        partial: Partial,
    },
    /// The body failed: the transport, or a layer between the transport and the reader.
    #[non_exhaustive]
    Body {
        /// The error of the body.
        source: E,
        /// The declared length, exact or a hint, if there was one.
        declared: Option<u64>,
        /// Bytes that had arrived.
        received: u64,
        /// Those bytes.
        partial: Partial,
    },
}

impl<E> CollectError<E> {
    /// Creates the error of a failed reservation of `requested` bytes, after `received` bytes of
    /// content. It has no partial content.
    ///
    /// Use it in a body or an adapter that reserves memory of its own.
    pub fn out_of_memory(requested: u64, received: u64) -> Self {
        Self::OutOfMemory { requested, received, partial: Partial::default() }
    }

    /// Returns whether the body is over the limit, by its declared length or by the bytes that
    /// arrived.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::DeclaredTooLarge { .. } | Self::TooLarge { .. })
    }

    /// Returns the number of bytes that had arrived, whether or not they could be kept.
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
            | Self::Stopped { received, .. }
            | Self::TooSlow { received, .. }
            | Self::Body { received, .. } => *received,
        }
    }

    /// Returns the bytes that had arrived and were kept, from the beginning of the body up to the
    /// failure.
    ///
    /// They are fewer than [`received`](Self::received) if a frame went over a limit, or if the
    /// read was stopped while a frame waited for memory. There are none after
    /// [`Collect::append_to`](crate::Collect::append_to), which leaves them in the buffer of the
    /// caller.
    pub fn partial(&self) -> &Partial {
        match self {
            Self::DeclaredTooLarge { .. } => &Partial::EMPTY,
            Self::TooLarge { partial, .. }
            | Self::Incomplete { partial, .. }
            | Self::Longer { partial, .. }
            | Self::OutOfMemory { partial, .. }
            | Self::Budget { partial, .. }
            | Self::Stalled { partial, .. }
            | Self::Stopped { partial, .. }
            | Self::TooSlow { partial, .. }
            | Self::InvalidUtf8 { partial, .. }
            | Self::Body { partial, .. } => partial,
            #[cfg(feature = "json")]
            Self::InvalidJson { partial, .. } => partial,
        }
    }

    /// Takes the bytes of [`partial`](Self::partial) out, as one buffer.
    /// [`Partial::into_bytes`] says what happens if there is no memory for it.
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
    /// // The size hint of `Full` is exact, so the body was not polled.
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
            | Self::Stopped { partial, .. }
            | Self::TooSlow { partial, .. }
            | Self::InvalidUtf8 { partial, .. }
            | Self::Body { partial, .. } => partial.into_bytes(),
            #[cfg(feature = "json")]
            Self::InvalidJson { partial, .. } => partial.into_bytes(),
        }
    }
}

impl<E: Error + 'static> CollectError<E> {
    /// Returns the HTTP status with which a server rejects a request whose body failed with this
    /// error.
    ///
    /// - 413 Content Too Large: the body is over the limit (RFC 9110 §15.5.14).
    /// - 408 Request Timeout: the body was too slow, or the read was stopped while it waited for
    ///   the body (§15.5.9).
    /// - 503 Service Unavailable: the server has no memory for the body now (§15.6.4), or was
    ///   stopped while it waited for memory.
    /// - 400 Bad Request: everything else (§15.5.1).
    ///
    /// If the body failed because a body inside of it was refused, the reason of that refusal
    /// counts. It is found if it is a `CollectError` among the [sources](Error::source), as that of
    /// a [`Limited`](crate::Limited), or the `DecodeError` of presized-decode. If `E` is no
    /// [`Error`], call [`boxed`](Self::boxed) first.
    pub fn status(&self) -> StatusCode {
        match Refusal::of(self) {
            Some(Refusal::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
            Some(Refusal::NoMemory) => StatusCode::SERVICE_UNAVAILABLE,
            Some(Refusal::TooLate) => StatusCode::REQUEST_TIMEOUT,
            None => StatusCode::BAD_REQUEST,
        }
    }
}
