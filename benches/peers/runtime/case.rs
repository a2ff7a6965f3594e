//! One case: a runtime, and invocations of one kind.

use std::fmt;

use bytes::Bytes;
use presized_support::table;
use serde::{Deserialize, Serialize};

pub(crate) const KIB: usize = 1 << 10;
pub(crate) const MIB: usize = 1 << 20;
/// The largest event and response of Lambda, less about a hundred bytes.
pub(crate) const SIX_MIB: usize = 6 * MIB;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Party {
    /// lambda_runtime, which supports JSON only.
    Peer,
    /// presized with bytes as event and response.
    Raw,
    /// presized with the types of lambda_runtime.
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

/// The kind of an invocation, with its bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Work {
    /// A short event, and a response that exists before the event arrives.
    Respond(usize),
    /// An event, and a short response about it.
    Event(usize),
    /// An event that is the response as well.
    Echo(usize),
}

impl Work {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Respond(bytes) | Self::Event(bytes) | Self::Echo(bytes) => bytes,
        }
    }

    /// Returns the event that a caller sends.
    pub(crate) fn event(self) -> Bytes {
        match self {
            Self::Respond(_) => Document::of(EMPTY).to_json(),
            Self::Event(bytes) | Self::Echo(bytes) => Document::of(bytes).to_json(),
        }
    }

    /// Returns the response that a caller must receive.
    pub(crate) fn response(self) -> Bytes {
        match self {
            Self::Respond(bytes) | Self::Echo(bytes) => Document::of(bytes).to_json(),
            Self::Event(bytes) => Document::about(Document::of(bytes).content.as_bytes()).to_json(),
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Respond(_) => "response",
            Self::Event(_) => "event",
            Self::Echo(_) => "echo",
        };
        write!(f, "{name} {}", table::bytes(self.bytes() as u64))
    }
}

/// The threads of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Threads {
    /// The runtime of `#[tokio::main]`.
    Many,
    /// The runtime of `#[tokio::main(flavor = "current_thread")]`.
    One,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) party: Party,
    pub(crate) cell: Cell,
}

/// The work that all parties do in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) work: Work,
    /// The number of concurrent invocations. With one, the function uses the classic Runtime API.
    pub(crate) workers: usize,
    pub(crate) threads: Threads,
}

impl Cell {
    /// Returns a name such as `response 6 MiB, 32`.
    pub(crate) fn name(self) -> String {
        format!("{}, {}", self.work, self.workers())
    }

    /// Returns the number of workers, with a star for a current-thread runtime.
    pub(crate) fn workers(self) -> String {
        let star = if self.threads == Threads::One { "*" } else { "" };
        format!("{}{star}", self.workers)
    }

    /// The number of calls for one reading of the clock.
    pub(crate) fn batch(self) -> usize {
        let calls = (16 * SIX_MIB / self.work.bytes()).min(1500);
        calls.max(2 * self.workers).next_multiple_of(self.workers)
    }

    pub(crate) fn rounds(self) -> usize {
        if self.workers > 1 && self.work.bytes() >= SIX_MIB { 5 } else { 9 }
    }
}

/// An event or a response.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Document {
    content: String,
}

impl Document {
    /// Creates a document of this many bytes in JSON. Its content needs no escape.
    pub(crate) fn of(bytes: usize) -> Self {
        // 9973 is prime, so that no two pages are the same.
        let letter = |position: usize| char::from(b'a' + (position % 9973 % 26) as u8);
        Self { content: (0..bytes - AROUND).map(letter).collect() }
    }

    /// Creates a short document about the content of another. It reads one byte of each page.
    pub(crate) fn about(content: &[u8]) -> Self {
        let sum: u64 = content.iter().step_by(4096).map(|&byte| u64::from(byte)).sum();
        Self { content: format!("{} {sum}", content.len()) }
    }

    pub(crate) fn content(&self) -> &[u8] {
        self.content.as_bytes()
    }

    /// Returns the content of a document in JSON, without a parser.
    pub(crate) fn content_of(json: &[u8]) -> &[u8] {
        json.get(PREFIX.len()..json.len().saturating_sub(SUFFIX.len())).unwrap_or_default()
    }

    pub(crate) fn to_json(&self) -> Bytes {
        [PREFIX, &self.content, SUFFIX].concat().into()
    }
}

const PREFIX: &str = r#"{"content":""#;
const SUFFIX: &str = r#""}"#;
/// The bytes of a document around its content.
const AROUND: usize = PREFIX.len() + SUFFIX.len();

/// The length of a document without content.
const EMPTY: usize = AROUND;
