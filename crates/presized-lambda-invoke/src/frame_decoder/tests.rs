use std::fs;
use std::sync::Arc;

use aws_smithy_types::event_stream::Header;
use presized_support::eventstream::{CHUNK, chunk, frame, prelude, unhex};
use presized_support::sources;
use proptest::prelude::*;

use super::*;

type Decoded = (Vec<Header>, Bytes);

/// Decodes the pieces. Returns the frames, and whether the last piece ends with a frame.
fn decode<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(Vec<Decoded>, bool), FrameError> {
    let mut frames = FrameDecoder::default();
    let mut decoded = Vec::new();
    for piece in pieces {
        frames.feed(Bytes::copy_from_slice(piece));
        while let Some(frame) = frames.decode()? {
            decoded.push((frame.headers.headers().to_vec(), frame.payload));
        }
    }
    Ok((decoded, frames.is_between_frames()))
}

/// Decodes the same by AWS's reader, which takes whole messages.
fn oracle(mut data: &[u8]) -> Vec<Decoded> {
    let mut decoded = Vec::new();
    while !data.is_empty() {
        let message = read_message_from(&mut data).expect("a valid message");
        decoded.push((message.headers().to_vec(), message.payload().clone()));
    }
    decoded
}

/// Returns the test messages in the source of `aws-smithy-eventstream`.
fn vectors() -> Vec<(String, Vec<u8>)> {
    let sources = sources::directory(env!("CARGO_MANIFEST_DIR"), "aws-smithy-eventstream");
    let entries = fs::read_dir(sources.join("test_data")).expect("a folder of messages");
    let mut vectors: Vec<_> = entries
        .map(|entry| {
            let entry = entry.expect("an entry of the folder");
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).expect("a file"))
        })
        .collect();
    vectors.sort();
    vectors
}

#[test]
fn aws_test_messages_decode_or_fail_wherever_they_are_split() {
    let (mut valid, mut invalid) = (0, 0);
    for (name, data) in vectors() {
        let cuts = (0..=data.len()).map(|at| vec![&data[..at], &data[at..]]);
        let bytes = data.chunks(1).collect();
        for pieces in cuts.chain([bytes]) {
            let decoded = decode(pieces);
            match name.split_once('_') {
                Some(("valid", _)) => {
                    assert_eq!(decoded.expect(&name), (oracle(&data), true), "{name}");
                    valid += 1;
                }
                Some(("invalid", _)) => {
                    assert!(decoded.is_err(), "{name}: {decoded:?}");
                    invalid += 1;
                }
                _ => panic!("neither valid nor invalid: {name}"),
            }
        }
    }
    assert!(valid >= 3 && invalid >= 8, "{valid} {invalid}");
}

#[test]
fn any_changed_byte_is_an_error() {
    let data = unhex(CHUNK);
    assert_eq!(decode([&data[..]]).expect("a valid frame"), (oracle(&data), true));
    for at in 0..data.len() {
        let mut data = data.clone();
        data[at] ^= 0x10;
        assert!(decode([&data[..]]).is_err(), "byte {at}");
        assert!(decode(data.chunks(1)).is_err(), "byte {at}");
    }
}

#[test]
fn invalid_lengths_are_refused_before_memory_is_reserved() {
    for (total, headers) in [
        (u32::MAX, 0),
        (u32::MAX, u32::MAX),
        (u32::MAX, u32::MAX - 16),
        (16 + PAYLOAD_MAX + 1, 0),
        (16 + HEADERS_MAX + 1, HEADERS_MAX + 1),
        (16 + PAYLOAD_MAX + HEADERS_MAX + 1, HEADERS_MAX),
        (100, 85),
        (16, 1),
        (15, 0),
        (12, 0),
        (0, 0),
        (0, u32::MAX),
    ] {
        for cut in 0..12 {
            let data = Bytes::copy_from_slice(&prelude(total, headers));
            let mut frames = FrameDecoder::default();
            frames.feed(data.slice(..cut));
            assert!(frames.decode().expect("the beginning of a prelude").is_none());
            frames.feed(data.slice(cut..));
            let error = frames.decode().expect_err("an invalid length");
            let found = matches!(error, FrameError::Length { .. });
            assert!(found, "{total} {headers}: {error}");
            assert_eq!(frames.gathered.capacity(), 0);
        }
    }
}

#[test]
fn memory_is_reserved_once_at_the_first_byte_after_the_prelude() {
    for (headers, payload, reserved) in
        [(0, 1, 5), (0, EAGER as u32 - 4, EAGER), (HEADERS_MAX, PAYLOAD_MAX, EAGER)]
    {
        let mut frames = FrameDecoder::default();
        frames.feed(Bytes::copy_from_slice(&prelude(16 + headers + payload, headers)));
        assert!(frames.decode().expect("a prelude").is_none());
        assert_eq!(frames.gathered.capacity(), 0);
        for _ in 0..3 {
            frames.feed(Bytes::from_static(b"x"));
            assert!(frames.decode().expect("a part of a frame").is_none());
            assert_eq!(frames.gathered.capacity(), reserved);
        }
    }
}

#[test]
fn at_most_four_times_the_arrived_bytes_are_reserved() {
    let rest = PAYLOAD_MAX as usize + 4;
    let mut frames = FrameDecoder::default();
    frames.feed(Bytes::copy_from_slice(&prelude(16 + PAYLOAD_MAX, 0)));
    assert!(frames.decode().expect("a prelude").is_none());
    let piece = Bytes::from(vec![b'x'; 100_000]);
    let mut arrived = 0;
    while arrived + piece.len() < rest {
        frames.feed(piece.clone());
        arrived += piece.len();
        assert!(frames.decode().expect("a part of a frame").is_none());
        let reserved = frames.gathered.capacity();
        assert!(reserved <= rest.min(EAGER.max(4 * arrived)), "{reserved} for {arrived}");
    }
    assert_eq!(frames.gathered.capacity(), rest);
}

#[test]
fn long_payload_of_a_frame_in_one_piece_is_a_slice() {
    for (len, expected) in [(0, false), (1, false), (SLICE_FROM - 1, false), (SLICE_FROM, true)] {
        let data = Bytes::from(chunk(vec![b'x'; len]));
        let mut frames = FrameDecoder::default();
        frames.feed(data.clone());
        let payload = frames.decode().expect("a valid frame").expect("a whole frame").payload;
        assert_eq!(payload, vec![b'x'; len]);
        let is_slice = data.as_ptr_range().contains(&payload.as_ptr());
        assert_eq!(is_slice, expected, "{len}");
    }
}

#[test]
fn data_is_dropped_when_it_is_decoded() {
    #[derive(Clone)]
    struct Owner(Arc<Vec<u8>>);
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    let whole = chunk("abc");
    // A frame whose payload is copied, a prelude, and a part of a frame.
    for len in [whole.len(), 12, 40] {
        let owner = Owner(Arc::new(whole[..len].to_vec()));
        let mut frames = FrameDecoder::default();
        frames.feed(Bytes::from_owner(owner.clone()));
        while frames.decode().expect("a valid frame").is_some() {}
        assert_eq!(Arc::strong_count(&owner.0), 1, "{len}");
    }
}

#[test]
fn ten_thousand_frames_in_one_piece_are_decoded() {
    let data: Vec<u8> = (0..10_000).flat_map(|at| chunk(format!("{at}"))).collect();
    let (decoded, is_between_frames) = decode([&data[..]]).expect("valid frames");
    assert!(is_between_frames);
    assert_eq!(decoded.len(), 10_000);
    assert_eq!(decoded[9_999].1, "9999");
}

proptest! {
    #[test]
    fn frames_split_anywhere_decode_to_the_same(
        frames in prop::collection::vec(
            (
                prop::collection::vec(("[a-z:]{1,20}", ".{0,20}"), 0..4),
                prop_oneof![0..40usize, 8_000..9_000usize],
            ),
            0..6,
        ),
        cuts in prop::collection::vec(0..30_000usize, 0..40),
        missing in 0..3usize,
    ) {
        let mut data = Vec::new();
        for (headers, len) in &frames {
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            data.extend(frame(&headers, &vec![b'p'; *len]));
        }
        let mut expected = oracle(&data);
        let missing = missing.min(data.len());
        if missing > 0 {
            data.truncate(data.len() - missing);
            expected.pop();
        }
        let mut cuts: Vec<_> = cuts.into_iter().map(|at| at.min(data.len())).collect();
        cuts.extend([0, data.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| &data[cut[0]..cut[1]]);
        prop_assert_eq!(decode(pieces).unwrap(), (expected, missing == 0));
    }
}
