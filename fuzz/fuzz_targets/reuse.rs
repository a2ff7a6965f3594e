//! Bodies that share a budget, a pool and a history: opened, polled, given up and kept in
//! any order. All of them end, by themselves and woken by each other, and nothing of what
//! they shared is missing afterwards.
#![no_main]

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};

use arbitrary::Arbitrary;
use bytes::Bytes;
use http_body::{Body, Frame};
use libfuzzer_sys::fuzz_target;
use presized::{
    BufferPool, Collect, CollectError, ContentLength, LengthHistory, MemoryBudget, Reader,
};

#[derive(Arbitrary, Debug)]
struct Case {
    /// In units of 16 bytes: as much as one or two of the larger bodies need.
    budget: u16,
    /// In units of 256 bytes.
    max_idle: u16,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    Open(Script),
    Poll(u8),
    PollAll,
    GiveUp(u8),
    DropContent(u8),
    Trim,
}

#[derive(Arbitrary, Debug)]
struct Script {
    /// Lengths of the frames; 0 is one turn for somebody else.
    frames: Vec<u16>,
    /// Bytes that the limit leaves beside those of the body.
    spare: u16,
    declared: Declared,
    eager: u16,
    fail_fast: bool,
    pooled: bool,
    guesses: bool,
    vec: bool,
    fails: bool,
}

#[derive(Arbitrary, Debug)]
enum Declared {
    Nothing,
    Right,
    Exact(u16),
    Hint(u32),
}

static PATTERN: LazyLock<&'static [u8]> = LazyLock::new(|| {
    Vec::leak((0..FRAMES_MAX * 65_536).map(|position| (position % 251) as u8).collect())
});

const FRAMES_MAX: usize = 12;
const BODIES_MAX: usize = 12;

fuzz_target!(|case: Case| {
    let mut shared = Shared::new(&case);
    for step in &case.steps {
        shared.step(step);
        shared.check();
    }
    shared.finish();
});

struct Shared {
    budget: MemoryBudget,
    pool: BufferPool,
    max_idle: u64,
    history: LengthHistory,
    reads: Vec<Read>,
    contents: Vec<Bytes>,
}

type Outcome = Result<Bytes, CollectError<&'static str>>;

struct Read {
    future: Pin<Box<dyn Future<Output = Outcome>>>,
    woken: Arc<Woken>,
    len: usize,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

impl Shared {
    fn new(case: &Case) -> Self {
        let max_idle = u64::from(case.max_idle) * 256;
        Self {
            budget: MemoryBudget::new(u64::from(case.budget) * 16),
            pool: BufferPool::new(max_idle),
            max_idle,
            history: LengthHistory::new(),
            reads: Vec::new(),
            contents: Vec::new(),
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Open(script) if self.reads.len() < BODIES_MAX => self.open(script),
            Step::Open(_) => {}
            Step::Poll(index) => {
                if let Some(index) = pick(*index, self.reads.len()) {
                    self.poll(index);
                }
            }
            Step::PollAll => (0..self.reads.len()).rev().for_each(|index| self.poll(index)),
            Step::GiveUp(index) => {
                if let Some(index) = pick(*index, self.reads.len()) {
                    self.reads.swap_remove(index);
                }
            }
            Step::DropContent(index) => {
                if let Some(index) = pick(*index, self.contents.len()) {
                    self.contents.swap_remove(index);
                }
            }
            Step::Trim => self.pool.trim(),
        }
    }

    fn open(&mut self, script: &Script) {
        let frames: VecDeque<_> = script.frames.iter().copied().take(FRAMES_MAX).collect();
        let len = frames.iter().copied().map(usize::from).sum();
        let body = Frames { frames, position: 0, fails: script.fails };
        let length = match script.declared {
            Declared::Nothing => ContentLength::Unknown,
            Declared::Right => ContentLength::Exact(len as u64),
            Declared::Exact(length) => ContentLength::Exact(length.into()),
            Declared::Hint(length) => ContentLength::Hint(length.into()),
        };
        let limit = len as u64 + u64::from(script.spare);
        let mut reader = Reader::new(limit).eager(script.eager.into());
        reader = if script.fail_fast {
            reader.budget(&self.budget.fail_fast())
        } else {
            reader.budget(&self.budget)
        };
        if script.pooled {
            reader = reader.pool(&self.pool);
        }
        if script.guesses {
            reader = reader.history(&self.history);
        }
        let collect = Collect::new(body, reader).content_length(length);
        let vec = script.vec;
        let future = Box::pin(async move {
            if vec { collect.vec().await.map(Bytes::from) } else { collect.bytes().await }
        });
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        self.reads.push(Read { future, woken, len });
    }

    fn poll(&mut self, index: usize) {
        let read = &mut self.reads[index];
        read.woken.0.store(false, Relaxed);
        let waker = Waker::from(Arc::clone(&read.woken));
        let Poll::Ready(result) = read.future.as_mut().poll(&mut Context::from_waker(&waker))
        else {
            return;
        };
        let Read { future, len, .. } = self.reads.swap_remove(index);
        drop(future);
        match result {
            Ok(content) => {
                assert_eq!(content, PATTERN[..len]);
                self.contents.push(content);
            }
            Err(error) => {
                let kept = error.into_partial();
                assert!(PATTERN[..len].starts_with(&kept));
            }
        }
    }

    fn check(&self) {
        assert!(self.budget.in_use() <= self.budget.capacity());
        assert!(self.pool.stats().idle_bytes <= self.max_idle);
    }

    /// Drops what the caller has, and polls only who was woken.
    fn finish(mut self) {
        while !self.reads.is_empty() {
            self.contents.clear();
            let woken = self.reads.iter().position(|read| read.woken.0.load(Relaxed));
            self.poll(woken.expect("everybody waits and nobody is woken"));
            self.check();
        }
        self.contents.clear();
        assert_eq!(self.budget.in_use(), 0);
        let stats = self.pool.stats();
        assert_eq!((stats.outstanding, stats.outstanding_bytes), (0, 0));
    }
}

fn pick(index: u8, len: usize) -> Option<usize> {
    usize::from(index).checked_rem(len)
}

struct Frames {
    frames: VecDeque<u16>,
    position: usize,
    fails: bool,
}

impl Body for Frames {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        match self.frames.pop_front() {
            Some(0) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(len) => {
                let frame = &PATTERN[self.position..][..usize::from(len)];
                self.position += frame.len();
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(frame)))))
            }
            None if self.fails => Poll::Ready(Some(Err("reset"))),
            None => Poll::Ready(None),
        }
    }
}
