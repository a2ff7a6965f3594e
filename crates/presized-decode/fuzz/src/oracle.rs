//! One-shot decoders of all codings, which get the content in one piece.

use std::io::Read;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};

use crate::{CONTENT_MAX, Expected};

/// Decodes gzip member after member, and ignores zeros after the last one.
pub fn gzip(mut coded: &[u8]) -> Expected {
    let mut content = Vec::new();
    let mut is_first = true;
    loop {
        let is_end = coded.is_empty() || (!is_first && coded.iter().all(|&byte| byte == 0));
        if is_end {
            return Expected { content, is_whole: true, ..Expected::default() };
        }
        let mut member = GzDecoder::new(coded);
        let room = CONTENT_MAX + 1 - content.len();
        let is_whole = member.by_ref().take(room as u64).read_to_end(&mut content).is_ok();
        if content.len() > CONTENT_MAX || !is_whole {
            let is_cut = content.len() > CONTENT_MAX;
            return Expected { content, is_cut, ..Expected::default() };
        }
        coded = member.into_inner();
        is_first = false;
    }
}

/// Decodes zlib if the head is one, and raw deflate otherwise.
pub fn deflate(coded: &[u8]) -> Expected {
    if coded.is_empty() {
        return Expected { is_whole: true, ..Expected::default() };
    }
    let is_zlib = coded.len() > 1
        && coded[0] & 0x0f == 8
        && coded[0] < 0x80
        && (u16::from(coded[0]) << 8 | u16::from(coded[1])).is_multiple_of(31);
    let mut content = Vec::new();
    let room = CONTENT_MAX as u64 + 1;
    let (is_whole, rest) = if is_zlib {
        let mut decoder = ZlibDecoder::new(coded);
        let is_whole = decoder.by_ref().take(room).read_to_end(&mut content).is_ok();
        let rest = decoder.into_inner();
        // The decoder ignores the checksum when it is fuzzed.
        let end = coded.len() - rest.len();
        let checksum = adler2::adler32_slice(&content).to_be_bytes();
        (is_whole && coded[..end].ends_with(&checksum), rest)
    } else {
        let mut decoder = DeflateDecoder::new(coded);
        let is_whole = decoder.by_ref().take(room).read_to_end(&mut content).is_ok();
        (is_whole, decoder.into_inner())
    };
    let is_cut = content.len() > CONTENT_MAX;
    let is_whole = is_whole && rest.is_empty() && !is_cut;
    Expected { content, is_whole, is_cut, may_fail: false }
}

/// Decodes brotli with the allocator of the decoder, into one buffer.
pub fn brotli(coded: &[u8]) -> Expected {
    if coded.is_empty() {
        return Expected { is_whole: true, ..Expected::default() };
    }
    let alloc = StandardAlloc::default;
    let mut state = BrotliState::new(alloc(), alloc(), alloc());
    let mut content = vec![0; CONTENT_MAX + 1];
    let (mut left, mut read) = (coded.len(), 0);
    let (mut room, mut written) = (content.len(), 0);
    let result = BrotliDecompressStream(
        &mut left,
        &mut read,
        coded,
        &mut room,
        &mut written,
        &mut content,
        &mut 0,
        &mut state,
    );
    content.truncate(written);
    let is_cut = content.len() > CONTENT_MAX || matches!(result, BrotliResult::NeedsMoreOutput);
    let is_whole = matches!(result, BrotliResult::ResultSuccess) && left == 0 && !is_cut;
    Expected { content, is_whole, is_cut, may_fail: false }
}

/// Decodes zstd frame by frame with `ZSTD_decompress`, which knows no stream.
pub fn zstd(mut coded: &[u8]) -> Expected {
    let mut content = Vec::new();
    let mut buffer = vec![0; CONTENT_MAX + 1];
    let mut may_fail = false;
    while !coded.is_empty() {
        let Ok(len) = zstd_safe::find_frame_compressed_size(coded) else {
            return Expected { content, ..Expected::default() };
        };
        let Some(frame) = as_a_stream(&coded[..len], &mut may_fail) else {
            return Expected { content, ..Expected::default() };
        };
        match zstd_safe::decompress(&mut buffer[..], &frame) {
            Ok(written) => content.extend_from_slice(&buffer[..written]),
            Err(code) => {
                let kind = zstd_safe::zstd_sys::ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall;
                let is_cut = zstd_safe::is_error_kind(code, kind);
                return Expected { content, is_cut, ..Expected::default() };
            }
        }
        if content.len() > CONTENT_MAX {
            return Expected { content, is_cut: true, ..Expected::default() };
        }
        coded = &coded[len..];
    }
    Expected { content, is_whole: true, is_cut: false, may_fail }
}

/// Changes a frame so that `ZSTD_decompress` reads it as the decoder of streams does.
///
/// Only that one refuses a block that is longer than the window (RFC 8878 §3.1.1.2.4): `None`. And
/// it takes a compressed block of no bytes for an empty one. A compressed block in a frame with a
/// window of less than 128 KiB may decode to more than the window, which only that one refuses too:
/// `may_fail`.
fn as_a_stream(frame: &[u8], may_fail: &mut bool) -> Option<Vec<u8>> {
    let mut frame = frame.to_vec();
    if frame[0] != 0x28 {
        return Some(frame); // It is skippable.
    }
    let descriptor = frame[4];
    let is_single_segment = descriptor & 0x20 != 0;
    let content_len = match descriptor >> 6 {
        0 => usize::from(is_single_segment),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let before_content =
        5 + usize::from(!is_single_segment) + [0, 1, 2, 4][usize::from(descriptor & 3)];
    let mut at = before_content + content_len;
    let window = if is_single_segment {
        let content = frame[before_content..at].iter().rev();
        let content = content.fold(0, |value: u64, &byte| value << 8 | u64::from(byte));
        if content_len == 2 { content + 256 } else { content }
    } else {
        let base = 1024_u64 << (frame[5] >> 3);
        base + base / 8 * u64::from(frame[5] & 7)
    };
    loop {
        let header = u32::from_le_bytes([frame[at], frame[at + 1], frame[at + 2], 0]);
        let (is_last, kind, len) = (header & 1 == 1, header >> 1 & 3, header >> 3);
        if u64::from(len) > window.min(128 << 10) {
            return None;
        }
        *may_fail |= kind == 2 && !is_single_segment && window < 128 << 10;
        if kind == 2 && len == 0 {
            frame[at] &= 1;
        }
        at += 3 + if kind == 1 { 1 } else { len as usize };
        if is_last {
            return Some(frame);
        }
    }
}
