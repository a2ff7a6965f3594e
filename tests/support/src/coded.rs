//! Coded content and decompression bombs.
//!
//! A bomb is one coded piece of zeros that is repeated, so that its decoded form is never in
//! memory.

use std::io::Write;

use brotli::CompressorWriter;
use flate2::{Compress, Compression, Crc, FlushCompress, write::GzEncoder};

/// The codings by their names in Content-Encoding.
pub const CODINGS: [&str; 3] = ["gzip", "br", "zstd"];

/// Returns `content` in a coding.
pub fn coded(coding: &str, content: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut encoder = CompressorWriter::new(Vec::new(), 4096, 5, 18);
            encoder.write_all(content).unwrap();
            encoder.into_inner()
        }
        "zstd" => {
            let mut frame = Vec::from(ZSTD_HEAD);
            let blocks = content.chunks(ZSTD_BLOCK);
            let last = blocks.len().saturating_sub(1);
            for (position, block) in blocks.enumerate() {
                frame.extend(zstd_block(ZSTD_RAW, block.len(), position == last));
                frame.extend(block);
            }
            frame
        }
        other => panic!("unknown coding {other}"),
    }
}

/// Returns `pieces` times [`PIECE`] zeros in a coding.
///
/// `window` is the base 2 logarithm of the decoder's window. gzip has a fixed window and ignores
/// it.
pub fn bomb(coding: &str, pieces: usize, window: u8) -> Vec<u8> {
    match coding {
        "gzip" => gzip_bomb(pieces),
        "br" => brotli_bomb(pieces, window),
        "zstd" => zstd_bomb(pieces, window),
        other => panic!("unknown coding {other}"),
    }
}

/// Reaches 1032 to 1, the highest ratio of deflate.
fn gzip_bomb(pieces: usize) -> Vec<u8> {
    let mut deflate = Compress::new(Compression::best(), false);
    let mut piece = Vec::with_capacity(PIECE);
    // A full flush ends on a byte boundary, and later blocks do not refer to earlier ones.
    deflate.compress_vec(&ZEROS, &mut piece, FlushCompress::Full).unwrap();
    assert_eq!(deflate.total_in(), PIECE as u64);

    let mut of_piece = Crc::new();
    of_piece.update(&ZEROS);
    let mut crc = Crc::new();
    (0..pieces).for_each(|_| crc.combine(&of_piece));

    // The header (RFC 1952 §2.3), the pieces, an empty last block, and the trailer.
    let mut stream = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    (0..pieces).for_each(|_| stream.extend(&piece));
    stream.extend([3, 0]);
    stream.extend(crc.sum().to_le_bytes());
    stream.extend(crc.amount().to_le_bytes());
    stream
}

/// Codes each piece as one zero and copies of it, in a meta-block of 13 bytes (RFC 7932 §9). An
/// encoder would make one meta-block for each window, and so more of them for a small window.
fn brotli_bomb(pieces: usize, window: u8) -> Vec<u8> {
    let mut stream = Bits::default();
    match window {
        16 => stream.push(0, 1),
        18..=24 => stream.push(1 | (u64::from(window) - 17) << 1, 4),
        // Not in RFC 7932, but the decoder of reqwest accepts it.
        _ => {
            stream.push(0b0001_0001, 8);
            stream.push(window.into(), 6);
        }
    }
    for _ in 0..pieces {
        stream.push(0, 1); // not the last
        stream.push(2, 2); // six nibbles of
        stream.push(PIECE as u64 - 1, 24);
        // Compressed, one block type of each kind, distances without postfix and direct codes,
        // one context mode, one tree of literals and one of distances.
        stream.push(0, 1 + 3 + 2 + 4 + 2 + 2);
        // Prefix codes of one symbol each: a zero, one literal with a copy of any length after it,
        // and a distance of one bit.
        let distances = if window > 24 { 8 } else { 6 };
        for (symbol, bits) in [(0, 8), (384 + 8 + 7, 10), (16, distances)] {
            stream.push(1, 4);
            stream.push(symbol, bits);
        }
        stream.push(PIECE as u64 - 1 - 2118, 24); // extra bits of the copy length
        stream.push(0, 1); // from a distance of one
    }
    stream.push(0b11, 2); // last, and empty
    stream.bytes
}

/// A bit stream that fills each byte from its lowest bit.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn push(&mut self, value: u64, bits: u32) {
        for bit in 0..bits {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let last = self.bytes.len() - 1;
            self.bytes[last] |= ((value >> bit & 1) as u8) << (self.used % 8);
            self.used += 1;
        }
    }
}

/// Codes each block as four bytes: its header and the repeated byte (RFC 8878 §3.1.1.2.2).
fn zstd_bomb(pieces: usize, window: u8) -> Vec<u8> {
    let mut frame = Vec::from(ZSTD_HEAD);
    frame[5] = (window - 10) << 3;
    let blocks = pieces * PIECE / ZSTD_BLOCK;
    for position in 1..=blocks {
        frame.extend(zstd_block(ZSTD_REPEATED, ZSTD_BLOCK, position == blocks));
        frame.push(0);
    }
    frame
}

/// Returns a block header (RFC 8878 §3.1.1.2).
fn zstd_block(kind: usize, size: usize, last: bool) -> [u8; 3] {
    let header = (size << 3 | kind << 1 | usize::from(last)).to_le_bytes();
    [header[0], header[1], header[2]]
}

/// Decoded size of one piece, in bytes.
pub const PIECE: usize = 4 << 20;

static ZEROS: [u8; PIECE] = [0; PIECE];

/// The magic number, a frame header without a size or a checksum, and a window of 128 KiB.
const ZSTD_HEAD: [u8; 6] = [0x28, 0xb5, 0x2f, 0xfd, 0, (17 - 10) << 3];

/// The largest block of zstd, in bytes.
const ZSTD_BLOCK: usize = 128 << 10;

const ZSTD_RAW: usize = 0;
const ZSTD_REPEATED: usize = 1;
