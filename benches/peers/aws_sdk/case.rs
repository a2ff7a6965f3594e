//! What is compared: one way to read, and answers of one length.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use presized_support::client::Error;

pub(crate) const KIB: u64 = 1 << 10;
/// What Lambda answers with at most.
pub(crate) const SIX_MIB: u64 = 6 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The client as it is.
    Plain,
    Interceptor,
    /// The interceptor, with memory from a pool.
    Pool,
}

impl Reader {
    pub(crate) const ALL: [Self; 3] = [Self::Plain, Self::Interceptor, Self::Pool];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "aws-sdk-lambda",
            Self::Interceptor => "with the interceptor",
            Self::Pool => "with it and a pool",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) reader: Reader,
    pub(crate) length: u64,
}

impl Case {
    /// Calls for one reading of the clock.
    pub(crate) fn batch(self) -> u64 {
        (4 * SIX_MIB / self.length).min(200)
    }
}

/// A case and where its server is, as text for the process that calls.
pub(crate) struct Errand {
    pub(crate) case: Case,
    pub(crate) server: SocketAddr,
}

impl fmt::Display for Errand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case: Case { reader, length }, server } = self;
        write!(f, "{reader:?} {length} {server}")
    }
}

impl FromStr for Errand {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let words: Vec<&str> = text.split(' ').collect();
        let [reader, length, server] = words[..] else {
            return Err("an errand is three words".into());
        };
        let mut readers = Reader::ALL.into_iter();
        let reader = readers.find(|one| format!("{one:?}") == reader).ok_or("no such reader")?;
        Ok(Self { case: Case { reader, length: length.parse()? }, server: server.parse()? })
    }
}
