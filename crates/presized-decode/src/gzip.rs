//! gzip (RFC 1952): every member, with its checksum.

use flate2::Crc;

use crate::inflate::Inflate;
use crate::memory::Memory;
use crate::stage::Stage;
use crate::{Coding, DecodeError};

pub(crate) struct Gzip {
    state: State,
    /// Allocated after the first header.
    inflate: Option<Inflate>,
    /// The checksum of the member's content so far.
    crc: Crc,
    memory: Memory,
}

enum State {
    /// Before the first byte.
    Empty,
    Header(Header),
    Content,
    /// The bytes of the trailer so far.
    Trailer([u8; 8], usize),
    /// After the end of a member.
    Between,
    /// Zeros after the last member.
    Padding,
}

impl Gzip {
    pub(crate) fn new(memory: &Memory) -> Self {
        Self { state: State::Empty, inflate: None, crc: Crc::new(), memory: memory.clone() }
    }

    /// Reads one byte that is not of the content.
    fn read(&mut self, byte: u8) -> Result<(), DecodeError> {
        match &mut self.state {
            State::Empty => {
                let mut header = Header::default();
                header.read(byte)?;
                self.state = State::Header(header);
            }
            State::Header(header) => {
                if header.read(byte)? {
                    match &mut self.inflate {
                        Some(inflate) => inflate.reset(),
                        None => self.inflate = Some(Inflate::new(Coding::Gzip, &self.memory)?),
                    }
                    self.crc.reset();
                    self.state = State::Content;
                }
            }
            State::Content => unreachable!("read by the decoder"),
            State::Trailer(trailer, read) => {
                trailer[*read] = byte;
                *read += 1;
                if *read == trailer.len() {
                    // CRC32, and the length modulo 2^32 (RFC 1952 §2.3.1).
                    let (sum, amount) =
                        (self.crc.sum().to_le_bytes(), self.crc.amount().to_le_bytes());
                    if trailer[..4] != sum || trailer[4..] != amount {
                        return Err(DecodeError::Checksum { coding: Coding::Gzip });
                    }
                    self.state = State::Between;
                }
            }
            // gzip(1) ignores zeros after the last member, because tapes are padded with them.
            State::Between if byte == 0 => self.state = State::Padding,
            State::Padding if byte == 0 => {}
            State::Between if byte == MAGIC[0] => {
                let mut header = Header::default();
                header.read(byte)?;
                self.state = State::Header(header);
            }
            State::Between | State::Padding => {
                return Err(DecodeError::Trailing { coding: Coding::Gzip });
            }
        }
        Ok(())
    }
}

impl Stage for Gzip {
    fn decode(&mut self, input: &mut &[u8], output: &mut [u8]) -> (usize, Result<(), DecodeError>) {
        loop {
            if let (State::Content, Some(inflate)) = (&self.state, &mut self.inflate) {
                let (written, ended) = inflate.decode(input, output);
                self.crc.update(&output[..written]);
                match ended {
                    Ok(true) => self.state = State::Trailer([0; 8], 0),
                    Ok(false) if written == 0 && !input.is_empty() => continue,
                    Ok(false) => return (written, Ok(())),
                    Err(error) => return (written, Err(error)),
                }
                if written > 0 {
                    return (written, Ok(()));
                }
            }
            let Some((&byte, rest)) = input.split_first() else { return (0, Ok(())) };
            *input = rest;
            if let Err(error) = self.read(byte) {
                return (0, Err(error));
            }
        }
    }

    fn finish(&self) -> Result<(), DecodeError> {
        match self.state {
            State::Empty | State::Between | State::Padding => Ok(()),
            _ => Err(DecodeError::Truncated { coding: Coding::Gzip }),
        }
    }
}

/// The header of a member (RFC 1952 §2.3). Nothing of it is kept.
#[derive(Debug, Default)]
struct Header {
    part: Part,
    flags: u8,
    crc: Crc,
}

/// The part of the header that the next byte belongs to.
#[derive(Debug)]
enum Part {
    /// The byte with this index of the first ten.
    Fixed(u8),
    /// The lengths of the extra field, from the lower byte.
    ExtraLength(Option<u8>),
    /// This many bytes of the extra field.
    Extra(u16),
    Name,
    Comment,
    /// The two lower bytes of the CRC32 of the header, from the lower byte.
    Crc(Option<u8>),
    End,
}

impl Default for Part {
    fn default() -> Self {
        Self::Fixed(0)
    }
}

const MAGIC: [u8; 2] = [0x1f, 0x8b];
const DEFLATE: u8 = 8;

const HAS_CRC: u8 = 1 << 1;
const HAS_EXTRA: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0b1110_0000;

impl Header {
    /// Reads one byte. Returns whether it was the last one.
    fn read(&mut self, byte: u8) -> Result<bool, DecodeError> {
        const CORRUPT: DecodeError = DecodeError::Corrupt { coding: Coding::Gzip };
        let sum = self.crc.sum() as u16;
        self.crc.update(&[byte]);
        self.part = match self.part {
            Part::Fixed(index) => {
                let valid = match index {
                    0 | 1 => byte == MAGIC[usize::from(index)],
                    2 => byte == DEFLATE,
                    3 => byte & RESERVED == 0,
                    // Time, extra flags and operating system.
                    _ => true,
                };
                if !valid {
                    return Err(CORRUPT);
                }
                if index == 3 {
                    self.flags = byte;
                }
                if index < 9 { Part::Fixed(index + 1) } else { self.after(0) }
            }
            Part::ExtraLength(None) => Part::ExtraLength(Some(byte)),
            Part::ExtraLength(Some(low)) => match u16::from_le_bytes([low, byte]) {
                0 => self.after(HAS_EXTRA),
                length => Part::Extra(length),
            },
            Part::Extra(1) => self.after(HAS_EXTRA),
            Part::Extra(left) => Part::Extra(left - 1),
            Part::Name if byte == 0 => self.after(HAS_NAME),
            Part::Name => Part::Name,
            Part::Comment if byte == 0 => self.after(HAS_COMMENT),
            Part::Comment => Part::Comment,
            Part::Crc(None) if byte == sum.to_le_bytes()[0] => {
                Part::Crc(Some(sum.to_le_bytes()[1]))
            }
            Part::Crc(Some(high)) if byte == high => Part::End,
            Part::Crc(_) | Part::End => return Err(CORRUPT),
        };
        Ok(matches!(self.part, Part::End))
    }

    /// Returns the part that follows the one with this flag.
    fn after(&self, part: u8) -> Part {
        let has = |flag| part < flag && self.flags & flag != 0;
        if has(HAS_EXTRA) {
            Part::ExtraLength(None)
        } else if has(HAS_NAME) {
            Part::Name
        } else if has(HAS_COMMENT) {
            Part::Comment
        } else if self.flags & HAS_CRC != 0 {
            Part::Crc(None)
        } else {
            Part::End
        }
    }
}
