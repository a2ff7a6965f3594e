//! The body of a script. It also sees that it is polled as it should be, and what the
//! reader holds each time.

use std::cell::Cell;
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::{HeaderMap, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use presized_ledger::Mark;

use crate::case::{End, Script, Step};

/// A body that does what the script says.
pub struct ScriptBody<'a> {
    script: &'a Script,
    steps: VecDeque<Step>,
    log: Rc<Log>,
    end: Option<End>,
}

/// What became of a body.
#[derive(Debug, Default)]
pub struct Log {
    pub polls: Cell<u32>,
    /// Bytes and frames of content handed out.
    pub received: Cell<usize>,
    pub frames: Cell<u64>,
    /// Frames handed out since the reader was last polled, and bytes of content in them.
    pub in_one_poll: Cell<(usize, usize)>,
    /// What `until` waits for has happened.
    pub stops: Cell<bool>,
    /// All periods in which bytes had to arrive are over.
    pub late: Arc<AtomicBool>,
    /// Nothing comes any more, and nobody will be woken.
    pub hangs: Cell<bool>,
    /// Where the memory of the reader is counted from.
    pub mark: Cell<Option<Mark>>,
}

/// The error of a body.
#[derive(Debug)]
pub struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broken")
    }
}

impl Error for Broken {}

impl<'a> ScriptBody<'a> {
    pub fn new(script: &'a Script, log: &Rc<Log>) -> Self {
        let steps = script.steps.iter().copied().collect();
        Self { script, steps, log: Rc::clone(log), end: Some(script.end) }
    }

    /// The same, with a clean end: what there is to be read in all.
    pub fn unharmed(script: &'a Script) -> Self {
        Self { end: Some(End::Clean), ..Self::new(script, &Rc::default()) }
    }

    fn check_memory(&self) {
        let Some(mark) = self.log.mark.get() else { return };
        let most = self.script.earned(self.log.received.get() as u64);
        let held = u64::try_from(mark.spent().kept).unwrap_or(0);
        assert!(held <= most.saturating_add(OVERHEAD), "{held} bytes held, {most} earned");
    }

    /// Counts a frame of `len` bytes.
    fn work(&self, len: usize) {
        let (frames, bytes) = self.log.in_one_poll.get();
        self.log.in_one_poll.set((frames + 1, bytes + len));
        // The oracle takes any number of them.
        let is_oracle = self.log.mark.get().is_none();
        assert!(
            is_oracle || (frames < FRAMES_IN_ONE_POLL && bytes < BYTES_IN_ONE_POLL),
            "the body starves the executor"
        );
    }
}

impl Body for ScriptBody<'_> {
    type Data = Chunked;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Chunked>, Broken>>> {
        self.log.polls.set(self.log.polls.get() + 1);
        self.check_memory();
        while let Some(Step::Empty(0) | Step::Wait(0)) = self.steps.front() {
            self.steps.pop_front();
        }
        let frame = match self.steps.front_mut() {
            Some(Step::Wait(count)) => {
                *count -= 1;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Some(Step::Empty(count)) => {
                *count -= 1;
                self.work(0);
                Frame::data(Chunked::default())
            }
            Some(Step::Stop) => {
                self.steps.pop_front();
                self.log.stops.set(true);
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Some(Step::Late) => {
                self.steps.pop_front();
                self.log.late.store(true, Relaxed);
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Some(Step::Data { len, chunk, .. }) => {
                let (len, chunk) = (*len, *chunk);
                self.steps.pop_front();
                self.work(len);
                let from = self.log.received.get();
                self.log.received.set(from + len);
                self.log.frames.set(self.log.frames.get() + 1);
                let data = self.script.pattern.bytes().slice(from..from + len);
                Frame::data(Chunked { data, chunk })
            }
            Some(Step::Trailers(value)) => {
                let trailers = trailers(*value);
                self.steps.pop_front();
                self.work(0);
                Frame::trailers(trailers)
            }
            None => match self.end {
                Some(End::Clean) => {
                    self.end = None;
                    return Poll::Ready(None);
                }
                Some(End::Fails) => {
                    self.end = None;
                    return Poll::Ready(Some(Err(Broken)));
                }
                Some(End::Floods) => {
                    self.work(0);
                    assert!(self.log.polls.get() < POLLS_MAX, "a flood is read for ever");
                    Frame::data(Chunked::default())
                }
                Some(End::Hangs) => {
                    self.log.hangs.set(true);
                    return Poll::Pending;
                }
                None => panic!("polled after its end"),
            },
        };
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        if self.log.polls.get() == 0 {
            self.script.is_over_at_start()
        } else {
            // Some transports say so after the last byte, with trailers still to come.
            self.script.knows_end
                && !self.steps.iter().any(|step| matches!(step, Step::Data { .. }))
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.script.hint
    }
}

pub fn trailers(value: u8) -> HeaderMap {
    HeaderMap::from_iter([(http::header::ETAG, HeaderValue::from(u16::from(value)))])
}

/// Data that shows a part of itself at a time, as a chain of buffers does.
#[derive(Default)]
pub struct Chunked {
    data: Bytes,
    chunk: usize,
}

impl Buf for Chunked {
    fn remaining(&self) -> usize {
        self.data.len()
    }

    fn chunk(&self) -> &[u8] {
        &self.data[..self.data.len().min(self.chunk)]
    }

    fn advance(&mut self, count: usize) {
        self.data.advance(count);
    }

    fn copy_to_bytes(&mut self, len: usize) -> Bytes {
        if len <= self.chunk {
            return self.data.copy_to_bytes(len);
        }
        // What the default does: data in several places has to be copied.
        let copy = Bytes::copy_from_slice(&self.data[..len]);
        self.data.advance(len);
        copy
    }
}

/// Memory that has nothing to do with the size of a body, in bytes: at the most the trailers of
/// `STEPS_MAX` frames.
pub const OVERHEAD: u64 = 16 << 10;

/// Most frames in one poll of the reader.
const FRAMES_IN_ONE_POLL: usize = 256;

/// Bytes in one poll of the reader, after which no other frame is taken.
const BYTES_IN_ONE_POLL: usize = 1 << 20;

const POLLS_MAX: u32 = 1 << 20;
