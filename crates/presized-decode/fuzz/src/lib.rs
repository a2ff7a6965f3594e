//! The input of the fuzz targets, and the comparison with a one-shot decoder.

pub mod oracle;

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body::{Body, Frame};
use presized_decode::{Codings, DecodeError, Decoder};
use presized_ledger::Ledger;

/// One input: two bytes of settings, and coded content.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The size of the frames in which the content is delivered.
    frame: usize,
    /// The memory that the decoders may hold, in bytes.
    memory: u64,
    pub coded: &'a [u8],
}

impl<'a> Case<'a> {
    pub fn read(data: &'a [u8]) -> Option<Self> {
        let (&[frame, memory], coded) = data.split_first_chunk()?;
        let frame = match frame {
            0 => coded.len().max(1),
            size => size.into(),
        };
        // Up to 8 MiB, in steps that grow.
        let memory = u64::from(memory).pow(2) * 128;
        Some(Self { frame, memory, coded })
    }

    /// Decodes with enough memory and compares with `expected`. Then decodes with the memory of
    /// this case, and checks that it is not exceeded.
    pub fn check(&self, codings: &Codings, expected: &Expected) {
        let whole = self.decode(codings, MEMORY, self.coded.len().max(1));
        let split = self.decode(codings, MEMORY, self.frame);
        let bound = self.decode(codings, self.memory, self.frame);

        for found in [&whole, &split] {
            let len = found.content.len().min(expected.content.len());
            assert!(found.content[..len] == expected.content[..len], "another content");
            let is_refused = matches!(found.error, Some(DecodeError::TooMuchMemory { .. }));
            if found.is_cut || expected.is_cut || is_refused {
                continue;
            }
            match &found.error {
                None => {
                    assert!(expected.is_whole, "whole, but not to the one-shot decoder");
                    assert_eq!(found.content.len(), expected.content.len());
                }
                Some(error) => {
                    assert!(!expected.is_whole || expected.may_fail, "{error:?}, but whole");
                }
            }
        }
        if let (None, None) = (&whole.error, &split.error) {
            assert!(whole.content == split.content, "the frames change the content");
        }

        assert!(bound.peak <= self.memory + BESIDE, "{} of {}", bound.peak, self.memory);
        match &bound.error {
            Some(DecodeError::TooMuchMemory { needed, bound, .. }) => assert!(needed > bound),
            other => assert_eq!(other.is_some(), split.error.is_some(), "{other:?}"),
        }
        assert!(split.content.starts_with(&bound.content));
    }

    fn decode(&self, codings: &Codings, memory: u64, frame: usize) -> Found {
        let mut content = Vec::with_capacity(CONTENT_MAX + FRAME_MAX);
        let coded = Bytes::copy_from_slice(self.coded);
        let ((is_cut, error), spent) = Ledger::measure(|| {
            let body = Frames { coded, size: frame };
            let mut body = pin!(Decoder::new().memory(memory).body(codings.clone(), body));
            let mut context = Context::from_waker(Waker::noop());
            loop {
                match body.as_mut().poll_frame(&mut context) {
                    Poll::Pending => {}
                    Poll::Ready(None) => return (false, None),
                    Poll::Ready(Some(Ok(frame))) => {
                        let data = frame.into_data().expect("a data frame");
                        assert!(!data.is_empty() && data.len() <= FRAME_MAX);
                        content.extend_from_slice(&data);
                        if content.len() > CONTENT_MAX {
                            return (true, None);
                        }
                    }
                    Poll::Ready(Some(Err(error))) => {
                        let next: Poll<Option<Result<Frame<Bytes>, _>>> =
                            body.as_mut().poll_frame(&mut context);
                        assert!(matches!(next, Poll::Ready(None)), "{next:?}");
                        return (false, Some(error));
                    }
                }
            }
        });
        // The number of bytes over the bound depends on the frames.
        content.truncate(CONTENT_MAX + 1);
        Found { content, is_cut, error, peak: spent.peak }
    }
}

/// The result of a one-shot decoder.
#[derive(Debug, Default)]
pub struct Expected {
    /// The decoded content, up to its error.
    pub content: Vec<u8>,
    pub is_whole: bool,
    /// The content is longer than [`CONTENT_MAX`], and the rest was not decoded.
    pub is_cut: bool,
    /// A decoder of streams may refuse what this one takes.
    pub may_fail: bool,
}

struct Found {
    content: Vec<u8>,
    is_cut: bool,
    error: Option<DecodeError>,
    peak: u64,
}

/// Coded content in frames of one size.
struct Frames {
    coded: Bytes,
    size: usize,
}

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.coded.is_empty() {
            return Poll::Ready(None);
        }
        let len = self.size.min(self.coded.len());
        Poll::Ready(Some(Ok(Frame::data(self.coded.split_to(len)))))
    }
}

/// The memory of the decoders that are compared. Larger windows are slow to allocate.
const MEMORY: u64 = 40 << 20;

/// Bytes of content after which a target stops.
pub const CONTENT_MAX: usize = 1 << 20;

const FRAME_MAX: usize = 64 << 10;

/// The bytes that a body holds beside the decoders: one frame, and 16 KiB between two decoders.
const BESIDE: u64 = 160 << 10;
