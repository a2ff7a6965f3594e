//! One cell of the benchmark: a body, where it comes from, and a way to read it.

use std::fmt;
use std::str::FromStr;

use presized_support::client::{Endpoint, Error};

/// A way to read a body of unknown length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `http_body_util`: `collect().to_bytes()`.
    Collect,
    /// presized without pool and history.
    Presized,
}

impl Way {
    /// All ways. The first is the one that the others are compared with.
    pub const ALL: [Self; 2] = [Self::Collect, Self::Presized];

    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Collect => "collect().to_bytes()",
            Self::Presized => "presized",
        }
    }
}

/// The transport of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Frames in memory.
    Memory,
    /// hyper, over a socket on loopback, HTTP/1.1 with Transfer-Encoding: chunked.
    Hyper,
}

impl Source {
    /// All sources.
    pub const ALL: [Self; 2] = [Self::Memory, Self::Hyper];

    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "in memory",
            Self::Hyper => "hyper",
        }
    }
}

/// A body without a declared length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// Its transport.
    pub source: Source,
    /// Its length in bytes.
    pub length: u64,
    /// The size of its frames in bytes. Over hyper, this is the size of the chunks that are sent.
    pub frame: usize,
}

/// A body and a way to read it, as text for the client process.
#[derive(Clone, Debug)]
pub struct Job {
    /// The way.
    pub way: Way,
    /// The body.
    pub body: Body,
    /// The server of bodies from hyper.
    pub endpoint: Endpoint,
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { way, body: Body { source, length, frame }, endpoint } = self;
        write!(f, "{way:?} {source:?} {length} {frame} {endpoint}")
    }
}

impl FromStr for Job {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut words = text.splitn(5, ' ');
        let mut word = || words.next().ok_or("a job has five words or more");
        let way = named(&Way::ALL, word()?)?;
        let source = named(&Source::ALL, word()?)?;
        let body = Body { source, length: word()?.parse()?, frame: word()?.parse()? };
        Ok(Self { way, body, endpoint: word()?.parse()? })
    }
}

fn named<T: Copy + fmt::Debug>(all: &[T], name: &str) -> Result<T, Error> {
    let found = all.iter().find(|one| format!("{one:?}") == name);
    found.copied().ok_or_else(|| format!("unknown name: {name}").into())
}
