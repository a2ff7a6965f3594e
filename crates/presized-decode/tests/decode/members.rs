//! Several members of gzip, several frames of zstd, and other bytes after the content.

use presized_decode::{Coding, DecodeError};

use crate::{Form, decode, text, zstd};

/// The sizes of the frames in which each body is delivered.
const SIZES: [usize; 3] = [1, 3, usize::MAX];

#[tokio::test]
async fn all_members_and_frames_are_decoded() {
    let long = text(100_000);
    for form in [Form::Gzip, Form::Zstd] {
        let parts: [&[u8]; 6] = [b"hello ", b"", b"world", &long, b"", b"!"];
        let coded = parts.map(|part| form.code(part)).concat();
        for size in SIZES {
            let (content, result) = decode(form.coding(), &coded, size).await;
            assert!(result.is_ok(), "{form:?} {size}: {result:?}");
            assert!(content == parts.concat(), "{form:?} {size}");
        }
    }
}

#[tokio::test]
async fn many_small_members_and_frames_are_decoded() {
    for form in [Form::Gzip, Form::Zstd] {
        let coded = form.code(b"x").repeat(20_000);
        let (content, result) = decode(form.coding(), &coded, usize::MAX).await;
        assert!(result.is_ok() && content == [b'x'; 20_000], "{form:?}: {result:?}");
    }
}

#[tokio::test]
async fn skippable_frames_are_skipped() {
    let skipped = |content: &[u8]| {
        let head = [0x53, 0x2a, 0x4d, 0x18];
        [&head, &(content.len() as u32).to_le_bytes()[..], content].concat()
    };
    let frames = [
        skipped(b""),
        Form::Zstd.code(b"hello "),
        skipped(&[0x28; 70_000]),
        skipped(b""),
        Form::Zstd.code(b"world"),
        skipped(b"end"),
    ];
    for size in SIZES {
        let (content, result) = decode(Coding::Zstd, &frames.concat(), size).await;
        assert!(result.is_ok(), "{size}: {result:?}");
        assert_eq!(content, b"hello world");
    }
}

#[tokio::test]
async fn zeros_after_gzip_are_ignored() {
    let coded = Form::Gzip.code(b"hello ");
    for zeros in [1, 3, 1000] {
        for size in SIZES {
            let padded = [&coded[..], &vec![0; zeros]].concat();
            let (content, result) = decode(Coding::Gzip, &padded, size).await;
            assert!(result.is_ok() && content == b"hello ", "{zeros} {size}: {result:?}");
        }
    }
}

#[tokio::test]
async fn other_bytes_after_the_content_are_an_error_after_it() {
    let gzip = Form::Gzip.code(b"world");
    let table: [(Form, &[u8]); 11] = [
        (Form::Gzip, b"\n"),
        (Form::Gzip, b"garbage"),
        (Form::Gzip, b"\0\0x"),
        // A member after zeros is not decoded by gzip(1) either.
        (Form::Gzip, &[&[0, 0], &gzip[..]].concat()),
        (Form::Zlib, b"\0"),
        (Form::Zlib, &Form::Zlib.code(b"world")),
        (Form::RawDeflate, b"\0"),
        (Form::Brotli, b"\0"),
        (Form::Brotli, &Form::Brotli.code(b"world")),
        (Form::Zstd, b"\0"),
        (Form::Zstd, b"garbage"),
    ];
    for (form, rest) in table {
        for size in SIZES {
            let coded = [&form.code(b"hello "), rest].concat();
            let (content, result) = decode(form.coding(), &coded, size).await;
            let error = result.expect_err("other bytes follow");
            assert!(matches!(error, DecodeError::Trailing { .. }), "{form:?} {rest:?}: {error:?}");
            assert_eq!(content, b"hello ", "{form:?} {rest:?} {size}");
        }
    }
}

#[tokio::test]
async fn broken_second_part_is_an_error_after_the_first() {
    for form in [Form::Gzip, Form::Zstd] {
        let first = form.code(b"hello ");
        let second = form.code(b"world");
        for len in 1..second.len() {
            let coded = [&first[..], &second[..len]].concat();
            for size in SIZES {
                let (content, result) = decode(form.coding(), &coded, size).await;
                let error = result.expect_err("the second part is cut");
                assert!(
                    matches!(error, DecodeError::Truncated { .. }),
                    "{form:?} {len}: {error:?}"
                );
                assert!(b"hello world".starts_with(&content) && content.len() >= 6, "{content:?}");
            }
        }
    }
}

#[tokio::test]
async fn gzip_header_with_every_field_is_read() {
    let plain = Form::Gzip.code(b"hello");
    let fields: [(u8, &[u8]); 4] =
        [(4, b"\x03\0abc"), (4, b"\0\0"), (8, b"name\0"), (16, b"comment\0")];
    for chosen in 0..16 {
        let chosen: Vec<_> =
            (0..4).filter(|bit| chosen >> bit & 1 == 1).map(|at| fields[at]).collect();
        if chosen.iter().filter(|(flag, _)| *flag == 4).count() > 1 {
            continue;
        }
        let mut header = plain[..10].to_vec();
        for (flag, field) in &chosen {
            header[3] |= flag;
            header.extend_from_slice(field);
        }
        for size in SIZES {
            let coded = [&header[..], &plain[10..]].concat();
            let (content, result) = decode(Coding::Gzip, &coded, size).await;
            assert!(result.is_ok() && content == b"hello", "{chosen:?}: {result:?}");

            let mut checked = header.clone();
            checked[3] |= 2;
            let mut crc = flate2::Crc::new();
            crc.update(&checked);
            checked.extend_from_slice(&(crc.sum() as u16).to_le_bytes());
            let coded = [&checked[..], &plain[10..]].concat();
            let (content, result) = decode(Coding::Gzip, &coded, size).await;
            assert!(result.is_ok() && content == b"hello", "{chosen:?}: {result:?}");

            let mut coded = coded;
            coded[checked.len() - 1] ^= 1;
            let (content, result) = decode(Coding::Gzip, &coded, size).await;
            assert!(matches!(result, Err(DecodeError::Corrupt { .. })), "{chosen:?}: {result:?}");
            assert!(content.is_empty());
        }
    }
}

#[tokio::test]
async fn zstd_frame_without_checksum_is_decoded() {
    let content = text(300_000);
    let coded = [zstd(&content, false), zstd(b"", false), zstd(b"end", false)].concat();
    for size in SIZES {
        let (decoded, result) = decode(Coding::Zstd, &coded, size).await;
        assert!(result.is_ok() && decoded == [&content[..], b"end"].concat(), "{result:?}");
    }
}
