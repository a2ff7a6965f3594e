//! A coded body while it is decoded: coded frames go in, decoded frames come out.

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::Frame;

use crate::chain::{Chain, Pulled};
use crate::memory::Memory;
use crate::output::Output;
use crate::{Codings, DecodeError};

pub(crate) struct Coded {
    chain: Chain,
    /// Coded bytes that have arrived and are not decoded yet.
    source: Bytes,
    /// The decoders may have output without more input.
    has_work: bool,
    output: Output,
    /// Coded bytes that have arrived.
    received: u64,
    /// The declared length of the coded form.
    declared: Option<u64>,
    trailers: Option<HeaderMap>,
}

pub(crate) enum Decoded {
    Frame(Bytes),
    /// All that has arrived is decoded.
    NeedsInput,
    /// The work of one poll is done.
    Yields,
}

impl Coded {
    /// Returns `None` if there is no coding.
    pub(crate) fn new(codings: &Codings, memory: &Memory, declared: Option<u64>) -> Option<Self> {
        Some(Self {
            chain: Chain::new(codings, memory)?,
            source: Bytes::new(),
            has_work: false,
            output: Output::default(),
            received: 0,
            declared,
            trailers: None,
        })
    }

    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Returns whether nothing has arrived, neither a byte nor trailers.
    pub(crate) fn is_new(&self) -> bool {
        self.received == 0 && self.trailers.is_none()
    }

    /// Decodes up to one frame, and reads at most `work` bytes.
    pub(crate) fn decode(&mut self, work: &mut usize) -> Result<Decoded, DecodeError> {
        if !self.has_work {
            return Ok(Decoded::NeedsInput);
        }
        Ok(match self.chain.fill(&mut self.source, self.output.room(), work)? {
            Pulled::Data(len) => Decoded::Frame(self.output.take(len)),
            Pulled::NeedsInput => {
                self.has_work = false;
                // The frame of the transport is not needed any more.
                self.source = Bytes::new();
                Decoded::NeedsInput
            }
            Pulled::Yields => Decoded::Yields,
        })
    }

    /// Accepts a frame of the coded body, when all that came before it is decoded.
    pub(crate) fn accept<D: Buf>(&mut self, frame: Frame<D>) -> Result<(), DecodeError> {
        match frame.into_data() {
            Ok(data) => {
                self.source = into_bytes(data);
                self.received = self.received.saturating_add(self.source.len() as u64);
                self.has_work = !self.source.is_empty();
            }
            Err(frame) => {
                if let Ok(trailers) = frame.into_trailers() {
                    self.add_trailers(trailers)?;
                }
            }
        }
        Ok(())
    }

    /// Adds a frame of trailers. A field that is there already keeps its values.
    fn add_trailers(&mut self, more: HeaderMap) -> Result<(), DecodeError> {
        let trailers = self.trailers.get_or_insert_default();
        let mut last = None;
        for (name, value) in more {
            // A name is given once, before the first of its values.
            last = name.or(last);
            let Some(name) = &last else { continue };
            // `append` panics if there is no room.
            trailers
                .try_append(name, value)
                .map_err(|error| DecodeError::Body { source: error.into() })?;
        }
        Ok(())
    }

    /// Checks that the body is complete, after its end. Returns its trailers.
    pub(crate) fn finish(&mut self) -> Result<Option<HeaderMap>, DecodeError> {
        self.chain.finish()?;
        match self.declared {
            Some(declared) if (1..declared).contains(&self.received) => {
                Err(DecodeError::Incomplete { declared, received: self.received })
            }
            _ => Ok(self.trailers.take()),
        }
    }
}

/// Copies nothing if the data is `Bytes`.
pub(crate) fn into_bytes(mut data: impl Buf) -> Bytes {
    data.copy_to_bytes(data.remaining())
}
