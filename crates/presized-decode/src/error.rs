//! The error of decoding a body.

use std::error::Error;
use std::fmt;

use http::StatusCode;

use crate::Coding;

/// The error of decoding a body.
///
/// The content before the error was delivered as data frames. `CollectError::partial` of presized
/// has it.
#[derive(Debug)]
#[non_exhaustive]
pub enum DecodeError {
    /// A coding is unknown, or its feature is off. Nothing was decoded.
    #[non_exhaustive]
    UnsupportedCoding {
        /// The name of the coding, as the message has it.
        coding: Box<str>,
    },
    /// The body has more codings than [`Codings::MAX`](crate::Codings::MAX). Nothing was decoded.
    #[non_exhaustive]
    TooManyCodings {
        /// The most codings that are accepted.
        bound: usize,
    },
    /// The decoders of the body would need more memory than
    /// [`Decoder::memory`](crate::Decoder::memory) allows. The memory was not allocated.
    #[non_exhaustive]
    TooMuchMemory {
        /// The coding that needs the memory.
        coding: Coding,
        /// The window that the coded head declares, in bytes.
        window: u64,
        /// Bytes that all decoders of the body would hold.
        needed: u64,
        /// Bytes that they may hold.
        bound: u64,
    },
    /// The allocator refused memory to a decoder.
    #[non_exhaustive]
    OutOfMemory {
        /// The coding that needs the memory.
        coding: Coding,
        /// The window that the coded head declares, in bytes.
        window: u64,
    },
    /// The content needs a dictionary that only its sender has.
    #[non_exhaustive]
    Dictionary {
        /// The coding.
        coding: Coding,
    },
    /// The body ended before the end of the coded content.
    #[non_exhaustive]
    Truncated {
        /// The coding whose end is missing.
        coding: Coding,
    },
    /// The body ended before its declared length, between two members or frames.
    #[non_exhaustive]
    Incomplete {
        /// The length in bytes of the coded form, as Content-Length declared it.
        declared: u64,
        /// Coded bytes that arrived.
        received: u64,
    },
    /// The decoded content does not match its checksum or its length. All of it was delivered.
    #[non_exhaustive]
    Checksum {
        /// The coding.
        coding: Coding,
    },
    /// The coded content is invalid.
    #[non_exhaustive]
    Corrupt {
        /// The coding.
        coding: Coding,
    },
    /// Other bytes follow the coded content.
    #[non_exhaustive]
    Trailing {
        /// The coding.
        coding: Coding,
    },
    /// The coded body failed.
    #[non_exhaustive]
    Body {
        /// The error of the body.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl DecodeError {
    /// Returns the HTTP status with which a server rejects a request whose body failed with this
    /// error.
    ///
    /// - 415 Unsupported Media Type: a coding is not supported, or there are too many.
    /// - 413 Content Too Large: the decoders would need too much memory.
    /// - 503 Service Unavailable: the allocator refused memory to a decoder.
    /// - 400 Bad Request: everything else.
    ///
    /// `CollectError::status` of presized is 413 or 503 too if this error is among the sources.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::UnsupportedCoding { .. } | Self::TooManyCodings { .. } => {
                StatusCode::UNSUPPORTED_MEDIA_TYPE
            }
            Self::TooMuchMemory { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::OutOfMemory { .. } => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_REQUEST,
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnsupportedCoding { coding } => {
                write!(f, "content coding {coding:?} is not supported")
            }
            Self::TooManyCodings { bound } => {
                write!(f, "more than {bound} content codings")
            }
            Self::TooMuchMemory { coding, window, needed, bound } => write!(
                f,
                "decoding {coding} with a window of {window} bytes needs {needed} bytes of memory, \
                 and at most {bound} are allowed"
            ),
            Self::OutOfMemory { coding, window } => {
                write!(f, "out of memory for decoding {coding} with a window of {window} bytes")
            }
            Self::Dictionary { coding } => {
                write!(f, "{coding} content needs a dictionary, which is not supported")
            }
            Self::Truncated { coding } => write!(f, "{coding} content ends too early"),
            Self::Incomplete { declared, received } => {
                write!(f, "coded body ended after {received} of {declared} declared bytes")
            }
            Self::Checksum { coding } => {
                write!(f, "checksum or length of {coding} content does not match")
            }
            Self::Corrupt { coding } => write!(f, "{coding} content is invalid"),
            Self::Trailing { coding } => write!(f, "other bytes follow the {coding} content"),
            Self::Body { .. } => f.write_str("coded body failed"),
        }
    }
}

impl Error for DecodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Body { source } => Some(&**source),
            _ => None,
        }
    }

    /// Tells a reader above which status the error has. `CollectError::status` of presized looks
    /// for these words, because it finds errors whose type it does not know.
    fn description(&self) -> &str {
        match self {
            Self::TooMuchMemory { .. } => "presized: body is over the limit",
            Self::OutOfMemory { .. } => "presized: no memory for the body",
            _ => "presized: body failed",
        }
    }
}
