//! Content that is cut, damaged, or needs a dictionary.

use std::error::Error as _;

use presized_decode::{Coding, Codings, Decode, DecodeError, DecodeExt};
use presized_support::mock::{Mock, MockError, Step};

use crate::{Form, decode, read, text};

#[tokio::test]
async fn cut_at_every_byte_is_an_error_after_what_came() {
    let content = text(2000);
    for form in Form::ALL {
        let coded = form.code(&content);
        let mut most = 0;
        for len in 1..coded.len() {
            for size in [1, usize::MAX] {
                let (decoded, result) = decode(form.coding(), &coded[..len], size).await;
                let error = result.expect_err("the body is cut");
                assert!(
                    matches!(error, DecodeError::Truncated { .. }),
                    "{form:?} {len}: {error:?}"
                );
                assert!(content.starts_with(&decoded), "{form:?} {len} {size}");
                most = most.max(decoded.len());
            }
        }
        // Without its last byte only the end is missing.
        assert!(most > 1800, "{form:?}: {most}");
    }
}

#[tokio::test]
async fn what_was_decodable_before_a_cut_is_delivered() {
    let content = text(300_000);
    for form in Form::ALL {
        let coded = form.code(&content);
        let (decoded, result) = decode(form.coding(), &coded[..coded.len() / 2], 1000).await;
        assert!(matches!(result, Err(DecodeError::Truncated { .. })), "{form:?}");
        // zstd decodes whole blocks of 128 KiB.
        assert!(content.starts_with(&decoded) && decoded.len() >= 128 << 10, "{}", decoded.len());
    }
}

#[tokio::test]
async fn cut_inner_coding_is_an_error_after_what_came() {
    let content = text(50_000);
    for first in Form::ALL {
        for second in Form::ALL {
            let inner = first.code(&content);
            let coded = second.code(&inner[..inner.len() - 1]);
            let codings = Codings::new([first.coding(), second.coding()]).unwrap();
            let (decoded, result) = decode(codings, &coded, 100).await;
            let error = result.expect_err("the content is cut");
            let DecodeError::Truncated { coding, .. } = error else { panic!("{error:?}") };
            assert_eq!(coding, first.coding());
            assert!(content.starts_with(&decoded) && decoded.len() > 49_000, "{}", decoded.len());
        }
    }
}

#[tokio::test]
async fn wrong_checksum_is_an_error_after_the_last_byte() {
    for (form, from_end) in [(Form::Gzip, 8), (Form::Zlib, 4), (Form::Zstd, 4)] {
        for len in [5, 100_000] {
            let content = text(len);
            let coded = form.code(&content);
            for damaged in 1..=from_end {
                for size in [1, 1000, usize::MAX] {
                    let mut coded = coded.clone();
                    let at = coded.len() - damaged;
                    coded[at] ^= 0x10;
                    let (decoded, result) = decode(form.coding(), &coded, size).await;
                    let error = result.expect_err("the checksum is wrong");
                    assert!(matches!(error, DecodeError::Checksum { .. }), "{form:?}: {error:?}");
                    assert!(decoded == content, "{form:?} {len} {damaged} {size}");
                }
            }
        }
    }
}

#[tokio::test]
async fn zstd_frame_with_less_content_than_it_says_is_an_error_after_what_came() {
    // Single segments that say 4 bytes. libzstd checks this only if the last block has content.
    let table: [(&[u8], &[u8]); 4] = [
        (b"\x20\x04\x01\0\0", b""),
        // With the checksum of nothing.
        (b"\x24\x04\x01\0\0\x99\xe9\xd8\x51", b""),
        (b"\x20\x04\x18\0\0abc\x01\0\0", b"abc"),
        (b"\x20\x04\x19\0\0abc", b"abc"),
    ];
    for (frame, expected) in table {
        let coded = [&[0x28, 0xb5, 0x2f, 0xfd], frame].concat();
        for rest in [&b""[..], &Form::Zstd.code(b"world")] {
            for size in [1, usize::MAX] {
                let coded = [&coded[..], rest].concat();
                let (content, result) = decode(Coding::Zstd, &coded, size).await;
                let error = result.expect_err("content is missing");
                let is_short =
                    matches!(error, DecodeError::Checksum { .. } | DecodeError::Corrupt { .. });
                assert!(is_short, "{frame:?}: {error:?}");
                assert!(expected.starts_with(&content), "{frame:?}: {content:?}");
            }
        }
    }
}

#[tokio::test]
async fn other_bytes_than_the_coding_says_are_corrupt() {
    for form in Form::ALL {
        for bytes in
            [&b"\xff\xff\xff\xff hello"[..], b"<!DOCTYPE html><html><body>not coded</body></html>"]
        {
            let (_, result) = decode(form.coding(), bytes, 1).await;
            let error = result.expect_err("not coded");
            let expected = match form {
                // Any byte is a window to brotli, and almost any are deflate.
                Form::Brotli | Form::RawDeflate => true,
                _ => matches!(error, DecodeError::Corrupt { .. }),
            };
            assert!(expected, "{form:?}: {error:?}");
        }
    }
}

#[tokio::test]
async fn damaged_bytes_never_panic_and_never_give_other_content_as_whole() {
    let content = text(3000);
    let mut random = fastrand::Rng::with_seed(3);
    for form in Form::ALL {
        let coded = form.code(&content);
        let has_checksum = !matches!(form, Form::RawDeflate | Form::Brotli);
        for _ in 0..2000 {
            let mut coded = coded.clone();
            let at = random.usize(..coded.len());
            coded[at] ^= 1 << random.u32(..8);
            let (decoded, result) = decode(form.coding(), &coded, random.usize(1..500)).await;
            // The name and the time in the head of gzip are not covered, for instance.
            if result.is_ok() && has_checksum {
                assert!(decoded == content, "{form:?} {at}");
            }
        }
    }
}

#[tokio::test]
async fn dictionary_is_refused() {
    let zstd = [0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 5, 0, 0, 0];
    // FDICT is set, and the check bits fit.
    let zlib = [0x78, 0xbb, 1, 2, 3, 4];
    for (coding, coded) in [(Coding::Zstd, &zstd[..]), (Coding::Deflate, &zlib)] {
        let (content, result) = decode(coding, coded, 1).await;
        assert!(matches!(result, Err(DecodeError::Dictionary { .. })), "{coding}: {result:?}");
        assert!(content.is_empty());
    }
}

#[tokio::test]
async fn error_of_the_body_is_the_source_after_what_came() {
    let content = text(100_000);
    for form in Form::ALL {
        let coded = form.code(&content);
        let half = coded[..coded.len() - 1].to_vec();
        let body = Mock::new([Step::Data(half.into()), Step::Fail("reset")]);
        let (decoded, result) = read(Decode::new(form.coding(), body)).await;
        let error = result.unwrap_err();
        assert!(matches!(error, DecodeError::Body { .. }), "{error:?}");
        assert_eq!(error.source().unwrap().downcast_ref(), Some(&MockError("reset")));
        assert!(
            content.starts_with(&decoded) && decoded.len() > 99_000,
            "{form:?}: {}",
            decoded.len()
        );
    }
}

#[tokio::test]
async fn body_that_ends_between_members_before_its_length_is_incomplete() {
    for form in [Form::Gzip, Form::Zstd] {
        let first = form.code(b"hello ");
        let length = first.len() + form.code(b"world").len();
        // A body that tells its length, and a head that does.
        let body = Mock::of([&first]).exact(length as u64);
        let by_hint = read(Decode::new(form.coding(), body)).await;
        let response = http::Response::builder()
            .header("content-encoding", form.coding().name())
            .header("content-length", length)
            .body(Mock::of([&first]))
            .unwrap();
        let by_head = read(response.decode().unwrap().into_body()).await;
        for (content, result) in [by_hint, by_head] {
            assert_eq!(content, b"hello ");
            let Err(DecodeError::Incomplete { declared, received, .. }) = result else {
                panic!("{result:?}")
            };
            assert_eq!((declared, received), (length as u64, first.len() as u64));
        }
    }
}
