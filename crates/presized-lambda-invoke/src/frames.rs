//! Frames of `application/vnd.amazon.eventstream`, out of the data of a body as it comes.
//!
//! What a frame says is for `stream/event.rs`. The format is that of
//! <https://smithy.io/2.0/aws/amazon-eventstream.html>.

use std::fmt;

use aws_smithy_eventstream::error::Error as MessageError;
use aws_smithy_eventstream::frame::read_message_from;
use aws_smithy_types::event_stream::Message;
use bytes::{Buf, Bytes};
use crc32fast::Hasher;

/// Decodes frames. The data may be cut anywhere.
#[derive(Default)]
pub(super) struct Frames {
    /// Data that is in no frame yet.
    unread: Bytes,
    /// The beginning of a frame, as far as it has arrived.
    prelude: [u8; PRELUDE],
    prelude_len: usize,
    /// What follows the prelude, of a frame that does not lie in one piece.
    gathered: Vec<u8>,
}

/// One frame, the checksums of which are right.
#[derive(Debug)]
pub(super) struct Frame {
    /// The headers, in a message of their own.
    headers: Message,
    /// The payload.
    pub(super) payload: Bytes,
}

/// Why there is no frame. The stream cannot be read any further.
#[derive(Debug)]
pub(super) enum FrameError {
    /// The checksum of the prelude is wrong.
    Prelude,
    /// A frame of this many bytes, of which so many are headers, is too long or impossible.
    Length { total: u32, headers: u32 },
    /// The checksum of the frame is wrong.
    Checksum,
    /// The headers cannot be read.
    Headers(MessageError),
    /// There is no memory for this many bytes.
    OutOfMemory(usize),
}

impl Frames {
    /// Takes in the data of one frame of the body, when all before it is decoded.
    pub(super) fn feed(&mut self, data: Bytes) {
        debug_assert!(self.unread.is_empty());
        self.unread = data;
    }

    /// The next frame, or `None` where more data is needed for it. Not to be called again
    /// after an error.
    pub(super) fn decode(&mut self) -> Result<Option<Frame>, FrameError> {
        let frame = self.decode_unread()?;
        if frame.is_none() {
            // All of it is copied. An empty `Bytes` would still keep the read buffer of the
            // connection from being used again.
            debug_assert!(self.unread.is_empty());
            self.unread = Bytes::new();
        }
        Ok(frame)
    }

    /// Whether the data so far ends where a frame does.
    pub(super) fn is_between_frames(&self) -> bool {
        self.prelude_len == 0 && self.unread.is_empty()
    }

    fn decode_unread(&mut self) -> Result<Option<Frame>, FrameError> {
        let count = self.unread.len().min(PRELUDE - self.prelude_len);
        self.unread.copy_to_slice(&mut self.prelude[self.prelude_len..][..count]);
        self.prelude_len += count;
        if self.prelude_len < PRELUDE {
            return Ok(None);
        }
        let lengths = Lengths::read(&self.prelude)?;
        let in_one_piece = self.gathered.is_empty() && self.unread.len() >= lengths.rest();
        let rest = if in_one_piece {
            self.unread.split_to(lengths.rest())
        } else if self.gather(lengths.rest())? {
            Bytes::from(std::mem::take(&mut self.gathered))
        } else {
            return Ok(None);
        };
        self.prelude_len = 0;
        let mut frame = lengths.frame(&self.prelude, rest)?;
        if in_one_piece && frame.payload.len() < HAND_OVER_FROM {
            frame.payload = copied(&frame.payload)?;
        }
        Ok(Some(frame))
    }

    /// Copies what there is of the `len` bytes after the prelude. True once that is all.
    fn gather(&mut self, len: usize) -> Result<bool, FrameError> {
        if self.unread.is_empty() {
            return Ok(false);
        }
        let count = self.unread.len().min(len - self.gathered.len());
        let gathered = self.gathered.len() + count;
        if self.gathered.capacity() < gathered {
            let earned = len.min(gathered.saturating_mul(4).max(EAGER));
            let additional = earned - self.gathered.len();
            self.gathered
                .try_reserve_exact(additional)
                .map_err(|_| FrameError::OutOfMemory(earned))?;
        }
        self.gathered.extend_from_slice(&self.unread[..count]);
        self.unread.advance(count);
        Ok(self.gathered.len() == len)
    }
}

impl Frame {
    /// The value of a header that is a string.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let header = self.headers.headers().iter().find(|header| header.name().as_str() == name)?;
        header.value().as_string().ok().map(|value| value.as_str())
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prelude => f.write_str("checksum of an event stream prelude is wrong"),
            Self::Length { total, headers } => write!(
                f,
                "event stream frame of {total} bytes with {headers} bytes of headers is not possible"
            ),
            Self::Checksum => f.write_str("checksum of an event stream frame is wrong"),
            Self::Headers(_) => f.write_str("headers of an event stream frame cannot be read"),
            Self::OutOfMemory(requested) => {
                write!(f, "no memory for {requested} bytes of an event stream frame")
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

/// What a prelude says that can be true.
#[derive(Clone, Copy)]
struct Lengths {
    headers: usize,
    payload: usize,
}

impl Lengths {
    fn read(prelude: &[u8; PRELUDE]) -> Result<Self, FrameError> {
        let (lengths, mut checksum) = prelude.split_at(PRELUDE - CHECKSUM);
        if crc32fast::hash(lengths) != checksum.get_u32() {
            return Err(FrameError::Prelude);
        }
        let mut lengths = lengths;
        let (total, headers) = (lengths.get_u32(), lengths.get_u32());
        let payload = total
            .checked_sub(OVERHEAD)
            .and_then(|content| content.checked_sub(headers))
            .filter(|&payload| headers <= HEADERS_MAX && payload <= PAYLOAD_MAX)
            .ok_or(FrameError::Length { total, headers })?;
        // Both are far below what any target can count.
        Ok(Self { headers: headers as usize, payload: payload as usize })
    }

    /// Bytes after the prelude.
    fn rest(self) -> usize {
        self.headers + self.payload + CHECKSUM
    }

    /// Checks `rest`, which is all that follows the prelude, and takes it apart.
    fn frame(self, prelude: &[u8; PRELUDE], mut rest: Bytes) -> Result<Frame, FrameError> {
        let mut checksum = rest.split_off(self.headers + self.payload);
        let mut hasher = Hasher::new();
        hasher.update(prelude);
        hasher.update(&rest);
        if hasher.finalize() != checksum.get_u32() {
            return Err(FrameError::Checksum);
        }
        let payload = rest.split_off(self.headers);
        let headers = read_headers(&rest).map_err(FrameError::Headers)?;
        Ok(Frame { headers, payload })
    }
}

/// Reads headers with AWS's own reader.
///
/// That takes a whole message, and copies the payload of it. Given the headers alone as a
/// message, it leaves the payload where it is: measured, a frame costs 0.83 times as much at
/// 16 KiB of payload, 0.64 at 64 KiB and 0.37 at 1 MiB.
fn read_headers(headers: &[u8]) -> Result<Message, MessageError> {
    let len = headers.len() as u32;
    let mut prelude = [0; PRELUDE];
    prelude[..4].copy_from_slice(&(OVERHEAD + len).to_be_bytes());
    prelude[4..8].copy_from_slice(&len.to_be_bytes());
    let checksum = crc32fast::hash(&prelude[..8]);
    prelude[8..].copy_from_slice(&checksum.to_be_bytes());
    let mut hasher = Hasher::new();
    hasher.update(&prelude);
    hasher.update(headers);
    let checksum = hasher.finalize().to_be_bytes();
    read_message_from(prelude.chain(headers).chain(&checksum[..]))
}

fn copied(data: &[u8]) -> Result<Bytes, FrameError> {
    let mut copy = with_capacity(data.len())?;
    copy.extend_from_slice(data);
    Ok(copy.into())
}

fn with_capacity(len: usize) -> Result<Vec<u8>, FrameError> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(len).map_err(|_| FrameError::OutOfMemory(len))?;
    Ok(buffer)
}

/// Bytes of the prelude: the length of the frame, that of its headers, and a checksum.
const PRELUDE: usize = 12;

/// Bytes of a checksum, of which one ends the prelude and one the frame.
const CHECKSUM: usize = 4;

/// Bytes of a frame that has neither headers nor a payload.
const OVERHEAD: u32 = (PRELUDE + CHECKSUM) as u32;

/// The most that a service may send, by the specification. A lower limit would refuse frames
/// that are right.
const PAYLOAD_MAX: u32 = 24 << 20;

/// The same for the headers.
const HEADERS_MAX: u32 = 128 << 10;

/// Bytes of a frame that are reserved on the word of its prelude. Above, no more than four times
/// what has arrived of it.
const EAGER: usize = 1 << 20;

/// From this size on a payload is handed over as a slice of the data it came in; below, it is
/// copied out, since it would keep a read buffer alive that can be fifty times as large and
/// that the connection could use again.
///
/// Measured, copying adds a ninth to what a frame of this size costs to decode, a seventh at
/// 16 KiB and four fifths at 64 KiB.
const HAND_OVER_FROM: usize = 8 << 10;

#[cfg(test)]
mod tests;
