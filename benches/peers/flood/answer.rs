//! What the function answers to each call, and how an answer breaks.

use presized_support::pattern::{self, Pattern};

/// What every answer has that is whole.
pub(crate) const LENGTH: u64 = 1024;

/// The answer to one call. No two calls have the same.
pub(crate) fn content(call: u32) -> Vec<u8> {
    let rest = Pattern::of(LENGTH - DIGITS as u64).next_frame();
    [format!("{call:0DIGITS$}").into(), rest.unwrap_or_default()].concat()
}

/// Whether `payload` is the answer to this call, to the last byte.
pub(crate) fn is_right(payload: &[u8], call: u32) -> bool {
    payload.split_at_checked(DIGITS).is_some_and(|(digits, rest)| {
        digits == format!("{call:0DIGITS$}").as_bytes()
            && pattern::is_whole(rest, LENGTH - DIGITS as u64)
    })
}

/// What becomes of an answer on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Whole,
    /// The connection ends before the answer begins.
    Silent,
    /// It ends within the head.
    CutHead,
    /// It ends within the content, after as many bytes.
    CutContent(usize),
    /// The same with a reset.
    Reset(usize),
    /// A chunked answer ends without its last chunk.
    CutChunks,
    /// What comes is not HTTP.
    Garbage,
    /// The length is no number.
    BadLength,
}

impl Fate {
    /// Of one call in a hundred it is to break, whatever order the calls come in.
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

    /// The bytes that are sent. Unless it is whole, the connection ends after them.
    pub(crate) fn answer(self, call: u32) -> Vec<u8> {
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

/// The figures of one run can be had again.
const SEED: u64 = 20_261_130;

const OK: &str = "HTTP/1.1 200 OK\r\nx-amzn-requestid: 8fb4c6a2-6a1d-4f0c-9c57-2f0d3a1b7e64\r\n";

/// Of the number of the call, with which its answer begins.
const DIGITS: usize = 8;
