//! brotli (RFC 7932), also with large windows.

mod allocator;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState};

use self::allocator::Counting;
use crate::memory::{Memory, Share};
use crate::stage::Stage;
use crate::{Coding, DecodeError};

pub(crate) struct Brotli {
    state: State,
    /// The window in bytes, after the head.
    window: u64,
    memory: Memory,
    /// The decoder has more output than the last buffer had room for.
    holds_output: bool,
}

enum State {
    /// The first byte, if it has arrived and does not tell the window.
    Head(Option<u8>),
    /// The bytes of the head, which the decoder has not read yet.
    Begin(Box<Decoder>, [u8; 2], usize),
    Content(Box<Decoder>),
    End,
}

struct Decoder {
    state: BrotliState<Counting, Counting, Counting>,
    _share: Share,
}

impl Brotli {
    pub(crate) fn new(memory: &Memory) -> Self {
        let memory = memory.clone();
        Self { state: State::Head(None), window: 0, memory, holds_output: false }
    }

    /// Reads a byte of the head.
    fn read_head(&mut self, first: Option<u8>, byte: u8) -> Result<(), DecodeError> {
        let head = first.map_or([byte, 0], |first| [first, byte]);
        self.state = match (window_bits(head[0]), first) {
            (None, _) => return Err(DecodeError::Corrupt { coding: Coding::Brotli }),
            (Some(Window::Large), None) => State::Head(Some(byte)),
            (Some(Window::Large), Some(_)) => match byte & 0x3f {
                bits @ LARGE_BITS_MIN..=LARGE_BITS_MAX => self.begin(bits, head, 2)?,
                _ => return Err(DecodeError::Corrupt { coding: Coding::Brotli }),
            },
            (Some(Window::Bits(bits)), _) => self.begin(bits, head, 1)?,
        };
        Ok(())
    }

    /// Allocates the decoder, if the bound allows its window too. The window itself is allocated
    /// with the first content.
    fn begin(&mut self, bits: u8, head: [u8; 2], len: usize) -> Result<State, DecodeError> {
        self.window = 1 << bits;
        let fixed = size_of::<Decoder>() as u64;
        let fits = self.memory.check(fixed + self.window + WINDOW_SLACK);
        let share = if fits { self.memory.claim(fixed) } else { None };
        let share = share.ok_or_else(|| self.memory.error(Coding::Brotli, self.window))?;
        let counting = || Counting::new(&self.memory);
        let mut state = BrotliState::new(counting(), counting(), counting());
        // A window that grows exists twice while it moves. Content of one meta-block still gets
        // only the window that it needs.
        state.set_initial_ring_buffer_size(u32::MAX);
        Ok(State::Begin(Box::new(Decoder { state, _share: share }), head, len))
    }

    /// Decodes content. Returns the number of bytes written.
    fn content(
        decoder: &mut Decoder,
        input: &mut &[u8],
        output: &mut [u8],
    ) -> (usize, BrotliResult) {
        let (mut read, mut left) = (0, input.len());
        let (mut written, mut room) = (0, output.len());
        let result = BrotliDecompressStream(
            &mut left,
            &mut read,
            input,
            &mut room,
            &mut written,
            output,
            &mut 0,
            &mut decoder.state,
        );
        *input = &input[read..];
        (written, result)
    }

    /// Returns the reason of a failure. The decoder also fails if it gets no memory.
    fn failure(&self) -> DecodeError {
        let (coding, window) = (Coding::Brotli, self.window);
        if self.memory.has_refused() {
            self.memory.error(coding, window)
        } else if self.memory.is_exhausted() {
            DecodeError::OutOfMemory { coding, window }
        } else {
            DecodeError::Corrupt { coding }
        }
    }
}

impl Stage for Brotli {
    fn decode(&mut self, input: &mut &[u8], output: &mut [u8]) -> (usize, Result<(), DecodeError>) {
        loop {
            let (written, result) = match &mut self.state {
                State::Head(first) => {
                    let first = *first;
                    let Some((&byte, rest)) = input.split_first() else { return (0, Ok(())) };
                    *input = rest;
                    if let Err(error) = self.read_head(first, byte) {
                        return (0, Err(error));
                    }
                    continue;
                }
                State::Begin(decoder, head, len) => {
                    let mut head = &head[..*len];
                    Self::content(decoder, &mut head, output)
                }
                State::Content(_) if input.is_empty() && !self.holds_output => return (0, Ok(())),
                State::Content(decoder) => Self::content(decoder, input, output),
                State::End if input.is_empty() => return (0, Ok(())),
                State::End => return (0, Err(DecodeError::Trailing { coding: Coding::Brotli })),
            };
            if let State::Begin(..) = self.state {
                let State::Begin(decoder, ..) = std::mem::replace(&mut self.state, State::End)
                else {
                    unreachable!("matched above")
                };
                self.state = State::Content(decoder);
            }
            self.holds_output = written == output.len();
            match result {
                BrotliResult::ResultSuccess => self.state = State::End,
                BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
                BrotliResult::ResultFailure => return (written, Err(self.failure())),
            }
            if written > 0 {
                return (written, Ok(()));
            }
        }
    }

    fn finish(&self) -> Result<(), DecodeError> {
        match self.state {
            State::Head(None) | State::End => Ok(()),
            _ => Err(DecodeError::Truncated { coding: Coding::Brotli }),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Window {
    /// The base 2 logarithm of the window.
    Bits(u8),
    /// The next byte has it. RFC 7932 reserves this; it is used by "large window brotli".
    Large,
}

/// Reads WBITS (RFC 7932 §9.1) from the first byte of a stream.
fn window_bits(head: u8) -> Option<Window> {
    Some(match (head & 1, head >> 1 & 7, head >> 4 & 7) {
        (0, ..) => Window::Bits(16),
        (_, 0, 0) => Window::Bits(17),
        (_, 0, 1) if head >> 7 == 0 => Window::Large,
        (_, 0, 1) => return None,
        (_, 0, bits) => Window::Bits(8 + bits),
        (_, bits, _) => Window::Bits(17 + bits),
    })
}

const LARGE_BITS_MIN: u8 = 10;
const LARGE_BITS_MAX: u8 = 30;

/// Bytes that the decoder allocates beside the window, so that it can write past its end.
const WINDOW_SLACK: u64 = 1 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_is_read_from_the_first_byte() {
        // The code points of RFC 7932 §9.1, from the lowest bit.
        let table = [
            (0b0, 16),
            (0b000_0001, 17),
            (0b0011, 18),
            (0b0101, 19),
            (0b0111, 20),
            (0b1001, 21),
            (0b1011, 22),
            (0b1101, 23),
            (0b1111, 24),
            (0b010_0001, 10),
            (0b011_0001, 11),
            (0b100_0001, 12),
            (0b101_0001, 13),
            (0b110_0001, 14),
            (0b111_0001, 15),
        ];
        for (head, bits) in table {
            assert_eq!(window_bits(head), Some(Window::Bits(bits)), "{head:#b}");
        }
        assert_eq!(window_bits(0b0001_0001), Some(Window::Large));
        assert_eq!(window_bits(0b1001_0001), None);
    }
}
