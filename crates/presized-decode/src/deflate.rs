//! The coding `deflate`: zlib (RFC 1950), or raw deflate (RFC 1951).

use adler2::Adler32;

use crate::inflate::Inflate;
use crate::memory::Memory;
use crate::stage::Stage;
use crate::{Coding, DecodeError};

pub(crate) struct Deflate {
    state: State,
    /// Allocated after the first two bytes.
    inflate: Option<Inflate>,
    /// `None` for raw deflate, which has no checksum.
    adler: Option<Adler32>,
    memory: Memory,
}

enum State {
    /// The first byte, if it has arrived.
    Head(Option<u8>),
    /// The two first bytes of raw deflate, which the decoder has not read yet.
    Raw([u8; 2]),
    Content,
    /// The bytes of the checksum so far.
    Checksum([u8; 4], usize),
    End,
}

impl Deflate {
    pub(crate) fn new(memory: &Memory) -> Self {
        Self { state: State::Head(None), inflate: None, adler: None, memory: memory.clone() }
    }

    /// Decides the format by the first two bytes.
    ///
    /// Raw deflate could begin like zlib only with a stored block whose padding is not zero, which
    /// no encoder writes.
    fn begin(&mut self, head: [u8; 2]) -> Result<(), DecodeError> {
        let [method, flags] = head;
        let is_zlib = method & 0x0f == DEFLATE
            && method >> 4 <= WINDOW_BITS_MAX - 8
            && u16::from_be_bytes(head) % 31 == 0;
        if is_zlib && flags & HAS_DICTIONARY != 0 {
            return Err(DecodeError::Dictionary { coding: Coding::Deflate });
        }
        self.inflate = Some(Inflate::new(Coding::Deflate, &self.memory)?);
        if is_zlib {
            self.adler = Some(Adler32::new());
            self.state = State::Content;
        } else {
            self.state = State::Raw(head);
        }
        Ok(())
    }

    /// Reads one byte that is not of the content.
    fn read(&mut self, byte: u8) -> Result<(), DecodeError> {
        match &mut self.state {
            State::Head(first) => match *first {
                None => *first = Some(byte),
                Some(first) => self.begin([first, byte])?,
            },
            State::Raw(_) | State::Content => unreachable!("read by the decoder"),
            State::Checksum(checksum, read) => {
                checksum[*read] = byte;
                *read += 1;
                if *read == checksum.len() {
                    let sum = self.adler.as_ref().map(Adler32::checksum);
                    if sum != Some(u32::from_be_bytes(*checksum)) {
                        return Err(DecodeError::Checksum { coding: Coding::Deflate });
                    }
                    self.state = State::End;
                }
            }
            State::End => return Err(DecodeError::Trailing { coding: Coding::Deflate }),
        }
        Ok(())
    }

    /// Decodes content. Returns the number of bytes written.
    fn content(
        &mut self,
        input: &mut &[u8],
        output: &mut [u8],
    ) -> (usize, Result<(), DecodeError>) {
        let Some(inflate) = &mut self.inflate else { return (0, Ok(())) };
        let (written, ended) = inflate.decode(input, output);
        if let Some(adler) = &mut self.adler {
            adler.write_slice(&output[..written]);
        }
        if let Ok(true) = ended {
            self.state = match self.adler {
                Some(_) => State::Checksum([0; 4], 0),
                None => State::End,
            };
        }
        (written, ended.map(|_| ()))
    }
}

impl Stage for Deflate {
    fn decode(&mut self, input: &mut &[u8], output: &mut [u8]) -> (usize, Result<(), DecodeError>) {
        loop {
            let (written, result) = match self.state {
                State::Raw(head) => {
                    self.state = State::Content;
                    let mut rest = &head[..];
                    let (written, result) = self.content(&mut rest, output);
                    if result.is_ok() && !rest.is_empty() {
                        // The stream ended within the first two bytes, and one is left.
                        (written, Err(DecodeError::Trailing { coding: Coding::Deflate }))
                    } else {
                        (written, result)
                    }
                }
                State::Content => self.content(input, output),
                _ => {
                    let Some((&byte, rest)) = input.split_first() else { return (0, Ok(())) };
                    *input = rest;
                    (0, self.read(byte))
                }
            };
            let waits = matches!(self.state, State::Content) && input.is_empty();
            if written > 0 || result.is_err() || waits {
                return (written, result);
            }
        }
    }

    fn finish(&self) -> Result<(), DecodeError> {
        match self.state {
            State::Head(None) | State::End => Ok(()),
            _ => Err(DecodeError::Truncated { coding: Coding::Deflate }),
        }
    }
}

/// The number of deflate in the first byte of zlib (RFC 1950 §2.2).
const DEFLATE: u8 = 8;

const WINDOW_BITS_MAX: u8 = 15;

const HAS_DICTIONARY: u8 = 1 << 5;
