//! What is compared: one runtime, and invocations of one kind.

use std::fmt;

use bytes::Bytes;
use presized_support::table;
use serde::{Deserialize, Serialize};

pub(crate) const KIB: usize = 1 << 10;
pub(crate) const MIB: usize = 1 << 20;
/// What Lambda takes and gives at most, but for a hundred bytes.
pub(crate) const SIX_MIB: usize = 6 * MIB;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Party {
    /// lambda_runtime, which has JSON and nothing else.
    Peer,
    /// presized, with bytes for the event and for the answer.
    Raw,
    /// presized, with the same types as lambda_runtime.
    Json,
}

impl Party {
    pub(crate) const ALL: [Self; 3] = [Self::Peer, Self::Raw, Self::Json];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Peer => "lambda_runtime",
            Self::Raw => "presized, bytes",
            Self::Json => "presized, JSON",
        }
    }

    /// The name of the function.
    pub(crate) fn function(self) -> &'static str {
        match self {
            Self::Peer => "peer",
            Self::Raw => "raw",
            Self::Json => "json",
        }
    }
}

/// What an invocation consists of, with its bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Work {
    /// A short event, and an answer which is there before the event has come.
    Answer(usize),
    /// An event, and a short answer about it.
    Event(usize),
    /// An event that is answered with itself.
    Echo(usize),
}

impl Work {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Answer(bytes) | Self::Event(bytes) | Self::Echo(bytes) => bytes,
        }
    }

    /// The event, as a caller sends it.
    pub(crate) fn event(self) -> Bytes {
        match self {
            Self::Answer(_) => Document::of(NOTHING).to_json(),
            Self::Event(bytes) | Self::Echo(bytes) => Document::of(bytes).to_json(),
        }
    }

    /// The answer, as a caller must get it.
    pub(crate) fn answer(self) -> Bytes {
        match self {
            Self::Answer(bytes) | Self::Echo(bytes) => Document::of(bytes).to_json(),
            Self::Event(bytes) => Document::about(Document::of(bytes).content.as_bytes()).to_json(),
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Answer(_) => "answer",
            Self::Event(_) => "event",
            Self::Echo(_) => "echo",
        };
        write!(f, "{name} {}", table::bytes(self.bytes() as u64))
    }
}

/// The threads of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Threads {
    /// What `#[tokio::main]` makes.
    Many,
    /// What `#[tokio::main(flavor = "current_thread")]` makes.
    One,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) party: Party,
    pub(crate) cell: Cell,
}

/// What all parties do in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) work: Work,
    /// Invocations at the same time. One is one after the other, with the classic Runtime API.
    pub(crate) workers: usize,
    pub(crate) threads: Threads,
}

impl Cell {
    /// Such as `answer 6 MiB, 32`.
    pub(crate) fn name(self) -> String {
        format!("{}, {}", self.work, self.workers())
    }

    /// How many, with a star where there is one thread for them and whoever waits.
    pub(crate) fn workers(self) -> String {
        let star = if self.threads == Threads::One { "*" } else { "" };
        format!("{}{star}", self.workers)
    }

    /// Calls for one reading of the clock.
    pub(crate) fn batch(self) -> usize {
        let calls = (16 * SIX_MIB / self.work.bytes()).min(1500);
        calls.max(2 * self.workers).next_multiple_of(self.workers)
    }

    pub(crate) fn rounds(self) -> usize {
        if self.workers > 1 && self.work.bytes() >= SIX_MIB { 5 } else { 9 }
    }
}

/// An event or an answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Document {
    content: String,
}

impl Document {
    /// One of so many bytes in JSON, whose content needs no escape.
    pub(crate) fn of(bytes: usize) -> Self {
        // A prime, so that no two pages are the same.
        let letter = |position: usize| char::from(b'a' + (position % 9973 % 26) as u8);
        Self { content: (0..bytes - AROUND).map(letter).collect() }
    }

    /// A short one about the content of another, which can be told without a look at all of it.
    pub(crate) fn about(content: &[u8]) -> Self {
        let sum: u64 = content.iter().step_by(4096).map(|&byte| u64::from(byte)).sum();
        Self { content: format!("{} {sum}", content.len()) }
    }

    pub(crate) fn content(&self) -> &[u8] {
        self.content.as_bytes()
    }

    /// The content of one in JSON, without a parser.
    pub(crate) fn content_of(json: &[u8]) -> &[u8] {
        json.get(PREFIX.len()..json.len().saturating_sub(SUFFIX.len())).unwrap_or_default()
    }

    pub(crate) fn to_json(&self) -> Bytes {
        [PREFIX, &self.content, SUFFIX].concat().into()
    }
}

const PREFIX: &str = r#"{"content":""#;
const SUFFIX: &str = r#""}"#;
const AROUND: usize = PREFIX.len() + SUFFIX.len();

/// Bytes of a document with nothing in it.
const NOTHING: usize = AROUND;
