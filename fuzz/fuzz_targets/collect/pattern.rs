//! What the bytes of a body are.

use std::sync::OnceLock;

use arbitrary::Arbitrary;
use bytes::Bytes;

/// Content in which a byte in the wrong place does not go unnoticed.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Pattern {
    /// Any byte, hardly ever UTF-8.
    Binary,
    /// UTF-8 wherever it is cut.
    Ascii,
    /// UTF-8 if it is not cut inside a character of three bytes.
    Wide,
}

impl Pattern {
    pub const ALL: [Self; 3] = [Self::Binary, Self::Ascii, Self::Wide];

    /// Most bytes a body has.
    pub const LEN: usize = 2 << 20;

    /// `LEN` bytes, made once and without owner: a slice of them costs no allocation, so
    /// that what is counted is the reader's alone.
    pub fn bytes(self) -> &'static Bytes {
        static BYTES: [OnceLock<Bytes>; 3] = [const { OnceLock::new() }; Pattern::ALL.len()];
        BYTES[self as usize].get_or_init(|| {
            let bytes: Vec<u8> = match self {
                Self::Binary => (0..Self::LEN).map(mixed).collect(),
                Self::Ascii => (0..Self::LEN).map(|i| b' ' + mixed(i) % 95).collect(),
                Self::Wide => (0..Self::LEN)
                    .filter_map(|i| char::from_u32(0x4E00 + (i as u32) % 0x5000))
                    .flat_map(|c| c.to_string().into_bytes())
                    .take(Self::LEN)
                    .collect(),
            };
            Bytes::from_static(bytes.leak())
        })
    }

    /// Whether these bytes are a part of the pattern, and not a copy of one.
    pub fn is_part(self, bytes: &[u8]) -> bool {
        let (whole, part) = (self.bytes().as_ptr_range(), bytes.as_ptr_range());
        whole.start <= part.start && part.end <= whole.end
    }
}

fn mixed(index: usize) -> u8 {
    ((index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u8
}
