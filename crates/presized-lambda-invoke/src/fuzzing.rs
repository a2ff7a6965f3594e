//! The internals that the fuzz targets test.

use bytes::Bytes;

use super::frame_decoder::FrameDecoder;

/// The result of [`decode_frames`].
#[derive(Debug)]
pub struct Decoded {
    /// The requested headers of each frame, and its payload.
    pub frames: Vec<(Vec<Option<String>>, Bytes)>,
    /// The error that ended the decoding, in its `Debug` form.
    pub error: Option<String>,
    /// Whether the data ends at the end of a frame.
    pub is_between_frames: bool,
}

/// Decodes the event stream frames of a body that arrives in `pieces`, and returns the headers
/// with these `names`.
pub fn decode_frames(pieces: impl IntoIterator<Item = Bytes>, names: &[&str]) -> Decoded {
    let mut decoder = FrameDecoder::default();
    let mut frames = Vec::new();
    for piece in pieces {
        decoder.feed(piece);
        loop {
            match decoder.decode() {
                Ok(Some(frame)) => {
                    let headers = names.iter().map(|name| frame.text(name).map(str::to_owned));
                    frames.push((headers.collect(), frame.payload));
                }
                Ok(None) => break,
                Err(error) => {
                    let error = Some(format!("{error:?}"));
                    return Decoded { frames, error, is_between_frames: false };
                }
            }
        }
    }
    Decoded { frames, error: None, is_between_frames: decoder.is_between_frames() }
}
