//! zstd (RFC 8878): every frame, with its checksum.

use zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, is_error_kind};

use crate::memory::{Memory, Share};
use crate::stage::Stage;
use crate::zstd_head::{HEAD_MAX, ZstdHead};
use crate::{Coding, DecodeError};

pub(crate) struct Zstd {
    state: State,
    /// The bytes of the head so far.
    head: [u8; HEAD_MAX],
    head_len: usize,
    /// The window of the frame in bytes.
    window: u64,
    /// Bytes of content that the frame says it has and that have not come, if it says so.
    missing: Option<u64>,
    context: Option<Context>,
    memory: Memory,
    has_begun: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    /// A frame to skip, of which this many bytes are left.
    Skip(u32),
    Frame,
    /// A frame that ended before the length that it says. libzstd accepts it from a stream if its
    /// last block is empty.
    Short,
}

struct Context {
    zstd: DCtx<'static>,
    share: Share,
    /// Bytes up to the end of the next block and the header after it.
    next: usize,
    /// The decoder has more output than the last buffer had room for.
    holds_output: bool,
}

impl Zstd {
    pub(crate) fn new(memory: &Memory) -> Self {
        Self {
            state: State::Head,
            head: [0; HEAD_MAX],
            head_len: 0,
            window: 0,
            missing: None,
            context: None,
            memory: memory.clone(),
            has_begun: false,
        }
    }

    /// Reads one byte of the head of a frame.
    fn read_head(&mut self, byte: u8) -> Result<(), DecodeError> {
        self.head[self.head_len] = byte;
        self.head_len += 1;
        let is_first = !self.has_begun;
        match ZstdHead::read(&self.head[..self.head_len]) {
            Ok(None) => Ok(()),
            Ok(Some(ZstdHead::Skippable(length))) => {
                self.state = if length == 0 { State::Head } else { State::Skip(length) };
                (self.has_begun, self.head_len) = (true, 0);
                Ok(())
            }
            Ok(Some(ZstdHead::Frame { has_dictionary: true, .. })) => {
                Err(DecodeError::Dictionary { coding: Coding::Zstd })
            }
            Ok(Some(ZstdHead::Frame { window, content, .. })) => {
                (self.window, self.missing) = (window, content);
                self.has_begun = true;
                self.begin(memory(window, content))
            }
            Err(_) if is_first => Err(DecodeError::Corrupt { coding: Coding::Zstd }),
            Err(_) => Err(DecodeError::Trailing { coding: Coding::Zstd }),
        }
    }

    /// Begins a frame whose decoder needs this much memory, if the bound allows it.
    fn begin(&mut self, needed: u64) -> Result<(), DecodeError> {
        let granted = match &mut self.context {
            Some(context) => context.share.raise(needed),
            None => match self.memory.claim(needed) {
                Some(share) => {
                    self.context = Some(self.create(share)?);
                    true
                }
                None => false,
            },
        };
        if !granted {
            return Err(self.memory.error(Coding::Zstd, self.window));
        }
        let head = self.head;
        let mut head = &head[..self.head_len];
        self.head_len = 0;
        self.state = State::Frame;
        while !head.is_empty() && self.state == State::Frame {
            self.step(&mut head, &mut [])?;
        }
        Ok(())
    }

    fn create(&self, share: Share) -> Result<Context, DecodeError> {
        let zstd = DCtx::try_create()
            .ok_or(DecodeError::OutOfMemory { coding: Coding::Zstd, window: self.window })?;
        let mut context = Context { zstd, share, next: HEAD_MAX, holds_output: false };
        // The bound has decided, and it can be above the default of libzstd.
        let set = context.zstd.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX));
        set.map_err(|code| self.error(code))?;
        Ok(context)
    }

    /// Decodes one block at most, or writes what is left of one. So content is written before an
    /// error in what follows it.
    fn step(&mut self, input: &mut &[u8], output: &mut [u8]) -> Result<usize, DecodeError> {
        let Some(context) = &mut self.context else { return Ok(0) };
        let room = output.len();
        let mut to = OutBuffer::around(output);
        let given = if context.holds_output { 0 } else { input.len().min(context.next) };
        let mut from = InBuffer::around(&input[..given]);
        let next = context.zstd.decompress_stream(&mut to, &mut from);
        let (read, written) = (from.pos(), to.pos());
        context.holds_output = written == room && room > 0;
        // libzstd fails if there is more content than the frame says.
        self.missing = self.missing.map(|missing| missing.saturating_sub(written as u64));
        match next {
            Ok(0) if self.missing.is_some_and(|missing| missing > 0) => self.state = State::Short,
            Ok(0) => self.state = State::Head,
            Ok(next) => context.next = next,
            Err(code) => return Err(self.error(code)),
        }
        *input = &input[read..];
        Ok(written)
    }

    fn error(&self, code: zstd_safe::ErrorCode) -> DecodeError {
        let is = |kind| is_error_kind(code, kind);
        let coding = Coding::Zstd;
        if is(ZSTD_ErrorCode::ZSTD_error_checksum_wrong) {
            DecodeError::Checksum { coding }
        } else if is(ZSTD_ErrorCode::ZSTD_error_memory_allocation) {
            DecodeError::OutOfMemory { coding, window: self.window }
        } else {
            DecodeError::Corrupt { coding }
        }
    }
}

impl Stage for Zstd {
    fn decode(&mut self, input: &mut &[u8], output: &mut [u8]) -> (usize, Result<(), DecodeError>) {
        loop {
            let holds_output = self.context.as_ref().is_some_and(|context| context.holds_output);
            let result = match self.state {
                State::Frame if input.is_empty() && !holds_output => return (0, Ok(())),
                State::Frame => match self.step(input, output) {
                    Ok(0) => Ok(()),
                    Ok(written) => return (written, Ok(())),
                    Err(error) => Err(error),
                },
                State::Skip(left) => {
                    if input.is_empty() {
                        return (0, Ok(()));
                    }
                    let skipped = input.len().min(left as usize);
                    *input = &input[skipped..];
                    let left = left - skipped as u32;
                    self.state = if left == 0 { State::Head } else { State::Skip(left) };
                    Ok(())
                }
                State::Short => Err(DecodeError::Checksum { coding: Coding::Zstd }),
                State::Head => {
                    let Some((&byte, rest)) = input.split_first() else { return (0, Ok(())) };
                    *input = rest;
                    self.read_head(byte)
                }
            };
            if let Err(error) = result {
                return (0, Err(error));
            }
        }
    }

    fn finish(&self) -> Result<(), DecodeError> {
        match self.state {
            State::Head if self.head_len == 0 => Ok(()),
            State::Short => Err(DecodeError::Checksum { coding: Coding::Zstd }),
            _ => Err(DecodeError::Truncated { coding: Coding::Zstd }),
        }
    }
}

/// Returns the bytes that libzstd allocates for a frame (`ZSTD_decompressStream`).
///
/// They are its context, one coded block and a ring buffer. The ring buffer has the window and two
/// blocks, or the content if that is less.
fn memory(window: u64, content: Option<u64>) -> u64 {
    let window = window.max(WINDOW_MIN);
    let block = window.min(BLOCK_MAX);
    let ring = window.saturating_add(2 * block + RING_SLACK);
    CONTEXT
        .saturating_add(block.max(4))
        .saturating_add(content.map_or(ring, |content| content.min(ring)))
}

/// An upper bound of the context of libzstd in bytes.
const CONTEXT: u64 = 96 << 10;

/// The largest block in bytes (RFC 8878 §3.1.1.2.4).
const BLOCK_MAX: u64 = 128 << 10;

/// The smallest window of libzstd in bytes.
const WINDOW_MIN: u64 = 1 << 10;

/// Bytes by which libzstd may write too far.
const RING_SLACK: u64 = 64;

/// The largest value that libzstd accepts.
const WINDOW_LOG_MAX: u32 = if usize::BITS == 32 { 30 } else { 31 };
