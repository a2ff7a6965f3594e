use arbitrary::Arbitrary;
use aws_smithy_eventstream::frame::read_message_from;
use aws_smithy_types::event_stream::Message;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use presized_lambda_invoke::fuzzing::decode_frames;

#[derive(Arbitrary, Debug)]
struct Case {
    pieces: Vec<Piece>,
    /// The lengths of the data frames of the body. The rest is the last one.
    cuts: Vec<u16>,
}

#[derive(Arbitrary, Debug)]
enum Piece {
    /// A frame with any bytes as headers, a payload of this length, and right checksums.
    Frame { headers: Vec<u8>, payload: u16 },
    /// The same with one bit flipped.
    Damaged { headers: Vec<u8>, payload: u16, bit: u32 },
    /// A prelude with these lengths and the right checksum.
    Prelude { total: u32, headers: u32 },
    /// Any bytes.
    Bytes(Vec<u8>),
}

/// The headers of interest of a frame, and its payload.
type Seen = (Vec<Option<String>>, Bytes);

fuzz_target!(|case: Case| {
    let mut data = Vec::new();
    for piece in case.pieces.iter().take(PIECES_MAX) {
        piece.write(&mut data);
    }
    let (expected, complete) = oracle(&data);
    let whole = decode_frames([Bytes::copy_from_slice(&data)], &NAMES);
    assert_eq!(whole.frames, expected);
    if complete {
        assert!(whole.error.is_none() && whole.is_between_frames, "{:?}", whole.error);
    }
    let split = decode_frames(split(&data, &case.cuts), &NAMES);
    assert_eq!(split.frames, whole.frames);
    assert_eq!((split.error, split.is_between_frames), (whole.error, whole.is_between_frames));
});

/// Splits the data into pieces of these lengths, and a last one.
fn split(data: &[u8], cuts: &[u16]) -> Vec<Bytes> {
    let mut rest = Bytes::copy_from_slice(data);
    let mut cuts = cuts.iter();
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let len = cuts.next().map_or(rest.len(), |&cut| rest.len().min(cut.into()));
        pieces.push(rest.split_to(len));
    }
    pieces
}

/// Returns the frames before the first invalid or incomplete one, and whether there is no such
/// frame.
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

/// The names of the headers of interest: one that the client reads, and short ones that a fuzzer
/// finds soon.
const NAMES: [&str; 3] = [":message-type", "a", ""];
