use std::fmt;

use aws_smithy_eventstream::error::Error as MessageError;

/// Why an event stream cannot be decoded further.
#[derive(Debug)]
pub(super) enum FrameError {
    /// The checksum of the prelude is wrong.
    Prelude,
    /// A frame of `total` bytes, of which `headers` bytes are headers, is too long or impossible.
    Length { total: u32, headers: u32 },
    /// The checksum of the frame is wrong.
    Checksum,
    /// The headers cannot be parsed.
    Headers(MessageError),
    /// This number of bytes could not be allocated.
    OutOfMemory(usize),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prelude => f.write_str("event stream prelude has a wrong checksum"),
            Self::Length { total, headers } => write!(
                f,
                "event stream frame declares an invalid length: {total} bytes with {headers} \
                 bytes of headers"
            ),
            Self::Checksum => f.write_str("event stream frame has a wrong checksum"),
            Self::Headers(_) => f.write_str("event stream frame has invalid headers"),
            Self::OutOfMemory(requested) => {
                write!(f, "could not allocate {requested} bytes for an event stream frame")
            }
        }
    }
}

impl std::error::Error for FrameError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Headers(source) => Some(source),
            _ => None,
        }
    }
}
