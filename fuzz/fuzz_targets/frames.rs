//! Decodes event stream frames that are cut anywhere, against AWS's reader of whole messages,
//! which is given the same bytes in one piece.
//!
//! The decoder is internal, so its file is taken in by its path: it stands alone.

#![no_main]

// Or else rustfmt looks for its tests beside it, where they are not by this path.
#[rustfmt::skip]
#[path = "../../src/lambda/invoke/frames.rs"]
mod frames;

use arbitrary::Arbitrary;
use aws_smithy_eventstream::frame::read_message_from;
use aws_smithy_types::event_stream::Message;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

use crate::frames::Frames;

#[derive(Arbitrary, Debug)]
struct Case {
    pieces: Vec<Piece>,
    /// Lengths of the data frames of the body; what is left over is the last one.
    cuts: Vec<u16>,
}

#[derive(Arbitrary, Debug)]
enum Piece {
    /// A frame with headers of any form and this many bytes of payload, with right checksums.
    Frame { headers: Vec<u8>, payload: u16 },
    /// The same, with one bit of it turned.
    Damaged { headers: Vec<u8>, payload: u16, bit: u32 },
    /// The beginning of a frame with these lengths, and with the right checksum.
    Prelude { total: u32, headers: u32 },
    /// Anything.
    Bytes(Vec<u8>),
}

/// What is asked of a frame.
type Seen = (Vec<Option<String>>, Bytes);

fuzz_target!(|case: Case| {
    let mut data = Vec::new();
    for piece in case.pieces.iter().take(PIECES_MAX) {
        piece.write(&mut data);
    }
    let (expected, complete) = oracle(&data);
    let whole = decode(&data, &[]);
    assert_eq!(whole.frames, expected);
    if complete {
        assert!(whole.error.is_none() && whole.is_between_frames, "{:?}", whole.error);
    }
    let cut = decode(&data, &case.cuts);
    assert_eq!(cut.frames, whole.frames);
    assert_eq!((cut.error, cut.is_between_frames), (whole.error, whole.is_between_frames));
});

struct Outcome {
    frames: Vec<Seen>,
    error: Option<String>,
    is_between_frames: bool,
}

fn decode(data: &[u8], cuts: &[u16]) -> Outcome {
    let mut rest = Bytes::copy_from_slice(data);
    let mut cuts = cuts.iter();
    let mut decoder = Frames::default();
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let len = cuts.next().map_or(rest.len(), |&cut| rest.len().min(cut.into()));
        decoder.feed(rest.split_to(len));
        loop {
            match decoder.decode() {
                Ok(Some(frame)) => {
                    let headers = NAMES.iter().map(|name| frame.text(name).map(str::to_owned));
                    frames.push((headers.collect(), frame.payload));
                }
                Ok(None) => break,
                Err(error) => {
                    let error = Some(format!("{error:?}"));
                    return Outcome { frames, error, is_between_frames: false };
                }
            }
        }
    }
    Outcome { frames, error: None, is_between_frames: decoder.is_between_frames() }
}

/// The frames before the first that is wrong or not whole, and whether there is no such.
fn oracle(mut data: &[u8]) -> (Vec<Seen>, bool) {
    let mut frames = Vec::new();
    while !data.is_empty() {
        let Some(total) = data.first_chunk() else { return (frames, false) };
        let total = u32::from_be_bytes(*total) as usize;
        let Some((frame, rest)) = data.split_at_checked(total) else { return (frames, false) };
        let Ok(message) = read_message_from(frame) else { return (frames, false) };
        let headers = NAMES.iter().map(|name| text(&message, name)).collect();
        frames.push((headers, message.payload().clone()));
        data = rest;
    }
    (frames, true)
}

fn text(message: &Message, name: &str) -> Option<String> {
    let header = message.headers().iter().find(|header| header.name().as_str() == name)?;
    header.value().as_string().ok().map(|value| value.as_str().to_owned())
}

impl Piece {
    fn write(&self, data: &mut Vec<u8>) {
        let from = data.len();
        match self {
            Self::Frame { headers, payload } | Self::Damaged { headers, payload, .. } => {
                let total = 16 + headers.len() + usize::from(*payload);
                data.extend_from_slice(&prelude(total as u32, headers.len() as u32));
                data.extend_from_slice(headers);
                data.extend((0..*payload).map(|at| at as u8));
                let checksum = crc32fast::hash(&data[from..]);
                data.extend_from_slice(&checksum.to_be_bytes());
            }
            Self::Prelude { total, headers } => {
                data.extend_from_slice(&prelude(*total, *headers));
            }
            Self::Bytes(bytes) => data.extend_from_slice(bytes),
        }
        if let Self::Damaged { bit, .. } = self {
            let bit = *bit as usize % (8 * (data.len() - from));
            data[from + bit / 8] ^= 1 << (bit % 8);
        }
    }
}

fn prelude(total: u32, headers: u32) -> [u8; 12] {
    let mut prelude = [0; 12];
    prelude[..4].copy_from_slice(&total.to_be_bytes());
    prelude[4..8].copy_from_slice(&headers.to_be_bytes());
    let checksum = crc32fast::hash(&prelude[..8]);
    prelude[8..].copy_from_slice(&checksum.to_be_bytes());
    prelude
}

const PIECES_MAX: usize = 8;

/// Headers to look for: what the client does, and what a fuzzer finds in no time.
const NAMES: [&str; 3] = [":message-type", "a", ""];
