//! The decoders of one body, one after the other.

use bytes::{Buf, Bytes};

use crate::memory::Memory;
use crate::stage::{Stage, stage};
use crate::{Coding, Codings, DecodeError};

/// The decoder of one coding, and the decoders of the codings that were applied after it.
pub(crate) struct Chain {
    stage: Box<dyn Stage>,
    before: Option<Box<Before>>,
    /// The error that follows what was decoded already.
    failed: Option<DecodeError>,
}

/// The decoders whose output is the input of a decoder.
struct Before {
    chain: Chain,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

pub(crate) enum Pulled {
    /// This many bytes were decoded.
    Data(usize),
    /// All input was read.
    NeedsInput,
    /// The work of one poll is done.
    Yields,
}

impl Chain {
    /// Returns `None` if there is no coding.
    pub(crate) fn new(codings: &Codings, memory: &Memory) -> Option<Self> {
        // The coding that was applied last is decoded first.
        codings
            .as_slice()
            .iter()
            .rev()
            .fold(None, |before, &coding| Some(Self::of(coding, before, memory)))
    }

    fn of(coding: Coding, before: Option<Self>, memory: &Memory) -> Self {
        let before =
            before.map(|chain| Box::new(Before { chain, buffer: Vec::new(), start: 0, end: 0 }));
        Self { stage: stage(coding, memory), before, failed: None }
    }

    /// Fills `output` from the front, as far as there is input, and reads at most `work` bytes.
    pub(crate) fn fill(
        &mut self,
        source: &mut Bytes,
        output: &mut [u8],
        work: &mut usize,
    ) -> Result<Pulled, DecodeError> {
        let mut filled = 0;
        while filled < output.len() {
            match self.pull(source, &mut output[filled..], work) {
                Ok(Pulled::Data(len)) => filled += len,
                Ok(other) if filled == 0 => return Ok(other),
                Ok(_) => break,
                Err(error) if filled == 0 => return Err(error),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        Ok(Pulled::Data(filled))
    }

    fn pull(
        &mut self,
        source: &mut Bytes,
        output: &mut [u8],
        work: &mut usize,
    ) -> Result<Pulled, DecodeError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        loop {
            if *work == 0 {
                return Ok(Pulled::Yields);
            }
            let input = match &self.before {
                None => &source[..],
                Some(before) => &before.buffer[before.start..before.end],
            };
            let mut rest = &input[..input.len().min(*work)];
            let (given, available) = (rest.len(), input.len());
            let (written, result) = self.stage.decode(&mut rest, output);
            let read = given - rest.len();
            *work -= read;
            match &mut self.before {
                None => source.advance(read),
                Some(before) => before.start += read,
            }
            match result {
                Ok(()) if written > 0 => return Ok(Pulled::Data(written)),
                Ok(()) if read < available => continue,
                Ok(()) => {}
                Err(error) if written > 0 => {
                    self.failed = Some(error);
                    return Ok(Pulled::Data(written));
                }
                Err(error) => return Err(error),
            }
            let Some(before) = &mut self.before else { return Ok(Pulled::NeedsInput) };
            before.buffer.resize(BETWEEN, 0);
            match before.chain.pull(source, &mut before.buffer, work)? {
                Pulled::Data(len) => (before.start, before.end) = (0, len),
                other => return Ok(other),
            }
        }
    }

    /// Checks that the content of each coding is complete, after the last input.
    pub(crate) fn finish(&self) -> Result<(), DecodeError> {
        if let Some(before) = &self.before {
            before.chain.finish()?;
        }
        self.stage.finish()
    }
}

/// Bytes between two decoders.
const BETWEEN: usize = 16 << 10;
