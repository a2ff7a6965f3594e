//! The response to each call, and the ways in which it breaks.

use presized_support::pattern::{self, Pattern};

/// The length of a complete response in bytes.
pub(crate) const LENGTH: u64 = 1024;

/// Returns the content of the response to one call. It differs from that of any other call.
pub(crate) fn content(call: u32) -> Vec<u8> {
    let rest = Pattern::of(LENGTH - DIGITS as u64).next_frame();
    [format!("{call:0DIGITS$}").into(), rest.unwrap_or_default()].concat()
}

/// Returns whether `payload` is the response to this call, to the last byte.
pub(crate) fn is_right(payload: &[u8], call: u32) -> bool {
    payload.split_at_checked(DIGITS).is_some_and(|(digits, rest)| {
        digits == format!("{call:0DIGITS$}").as_bytes()
            && pattern::is_whole(rest, LENGTH - DIGITS as u64)
    })
}

/// What happens to a response on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Whole,
    /// The connection ends before the response begins.
    Silent,
    /// The connection ends within the head.
    CutHead,
    /// The connection ends within the content, after this many bytes.
    CutContent(usize),
    /// The connection is reset within the content, after this many bytes.
    Reset(usize),
    /// A chunked response ends without its last chunk.
    CutChunks,
    /// The bytes are not HTTP.
    Garbage,
    /// The content length is not a number.
    BadLength,
}

impl Fate {
    /// Returns the fate of the response to this call. One call in a hundred breaks, in any order of
    /// the calls.
    pub(crate) fn of(call: u32) -> Self {
        let random = mix(SEED ^ u64::from(call));
        if !random.is_multiple_of(100) {
            return Self::Whole;
        }
        let after = (random >> 40) as usize % LENGTH as usize;
        match (random >> 32) % 7 {
            0 => Self::Silent,
            1 => Self::CutHead,
            2 => Self::CutContent(after),
            3 => Self::Reset(after),
            4 => Self::CutChunks,
            5 => Self::Garbage,
            _ => Self::BadLength,
        }
    }

    /// Returns the bytes to send. Unless the response is whole, the connection ends after them.
    pub(crate) fn bytes(self, call: u32) -> Vec<u8> {
        let content = content(call);
        let length = format!("content-length: {LENGTH}\r\n\r\n");
        let (status, head, content): (_, &str, &[u8]) = match self {
            Self::Whole => (OK, &length, &content),
            Self::Silent => ("", "", &[]),
            Self::CutHead => (OK, "content-le", &[]),
            Self::CutContent(bytes) | Self::Reset(bytes) => (OK, &length, &content[..bytes]),
            Self::CutChunks => (OK, "transfer-encoding: chunked\r\n\r\n400\r\n", &content),
            Self::Garbage => ("220 mail.example.com ESMTP\r\n", "", &[]),
            Self::BadLength => (OK, "content-length: ten\r\n\r\n", &content),
        };
        [status.as_bytes(), head.as_bytes(), content].concat()
    }
}

/// The finalizer of SplitMix64.
fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The seed is fixed, so that each run breaks the same calls.
const SEED: u64 = 20_261_130;

const OK: &str = "HTTP/1.1 200 OK\r\nx-amzn-requestid: 8fb4c6a2-6a1d-4f0c-9c57-2f0d3a1b7e64\r\n";

/// The number of digits of the call number, with which a response begins.
const DIGITS: usize = 8;
