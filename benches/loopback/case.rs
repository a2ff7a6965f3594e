//! What is compared: one way to read a body, of one length, over one transport.

use std::fmt;
use std::str::FromStr;

use presized_support::client::{Endpoint, Error};
use presized_support::server::{Protocol, known, unknown};

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;
/// What Lambda buffers at most, and the length that most bars are about.
pub(crate) const SIX_MIB: u64 = 6 * MIB;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// HTTP/1.1 with Content-Length.
    Http1,
    /// HTTP/1.1 with Transfer-Encoding: chunked.
    Chunked,
    Http2,
    /// HTTP/1.1 with Content-Length, over TLS.
    Tls,
}

impl Transport {
    pub(crate) const ALL: [Self; 4] = [Self::Http1, Self::Chunked, Self::Http2, Self::Tls];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Http1 => "HTTP/1.1",
            Self::Chunked => "chunked",
            Self::Http2 => "HTTP/2",
            Self::Tls => "TLS",
        }
    }

    pub(crate) fn protocol(self) -> Protocol {
        match self {
            Self::Http1 | Self::Chunked => Protocol::Http1,
            Self::Http2 => Protocol::Http2,
            Self::Tls => Protocol::Tls,
        }
    }

    pub(crate) fn path(self, length: u64) -> String {
        if self == Self::Chunked { unknown(length) } else { known(length) }
    }
}

/// A way to read a body, from the request to the release of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// `http_body_util`: `collect().to_bytes()`.
    Collect,
    Presized,
    /// presized, and 64 MiB are reserved on the word of the peer.
    Eager,
    /// presized, into one buffer for all bodies.
    IntoBuf,
    /// presized, with memory from a pool.
    Pool,
    /// presized, with the lengths of the bodies before.
    History,
    /// presized, with both.
    PoolHistory,
    /// reqwest: `bytes()`.
    Reqwest,
    /// presized on a response of reqwest.
    ReqwestPresized,
    /// read(2) into memory allocated once for each body.
    Read,
    /// read(2) into memory allocated once for all bodies.
    ReadInto,
}

impl Reader {
    pub(crate) const ALL: [Self; 11] = [
        Self::Collect,
        Self::Presized,
        Self::Eager,
        Self::IntoBuf,
        Self::Pool,
        Self::History,
        Self::PoolHistory,
        Self::Reqwest,
        Self::ReqwestPresized,
        Self::Read,
        Self::ReadInto,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Collect => "collect().to_bytes()",
            Self::Presized => "presized",
            Self::Eager => "presized, eager(64 MiB)",
            Self::IntoBuf => "presized, into_buf",
            Self::Pool => "presized, pool",
            Self::History => "presized, history",
            Self::PoolHistory => "presized, pool and history",
            Self::Reqwest => "reqwest bytes()",
            Self::ReqwestPresized => "reqwest and presized",
            Self::Read => "read(2), fresh Vec",
            Self::ReadInto => "read(2), one Vec for all",
        }
    }

    /// Whether the bodies before make a difference to this reader.
    pub(crate) fn settles(self) -> bool {
        matches!(self, Self::Pool | Self::History | Self::PoolHistory)
    }

    /// Whether this reader can read such a body in a way of its own.
    fn suits(self, transport: Transport, length: u64) -> bool {
        match self {
            Self::Eager => length > 16 * MIB && transport != Transport::Chunked,
            // With a length there is nothing to guess.
            Self::History | Self::PoolHistory => transport == Transport::Chunked,
            // No decoder is hand-written for the sake of a floor.
            Self::IntoBuf | Self::Read | Self::ReadInto => transport == Transport::Http1,
            _ => true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) transport: Transport,
    pub(crate) length: u64,
    pub(crate) reader: Reader,
}

impl Case {
    /// All ways to read such a body.
    pub(crate) fn of(transport: Transport, length: u64) -> impl Iterator<Item = Self> {
        let readers = Reader::ALL.into_iter().filter(move |reader| reader.suits(transport, length));
        readers.map(move |reader| Self { transport, length, reader })
    }

    /// Bodies that are read for one reading of the clock.
    pub(crate) fn batch(self) -> u64 {
        (4 * MIB / self.length).clamp(1, 200)
    }
}

/// A case and where its server is, as text for the process that reads.
pub(crate) struct Errand {
    pub(crate) case: Case,
    pub(crate) endpoint: Endpoint,
}

impl fmt::Display for Errand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { transport, length, reader } = self.case;
        write!(f, "{transport:?} {length} {reader:?} {}", self.endpoint)
    }
}

impl FromStr for Errand {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut words = text.splitn(4, ' ');
        let mut word = || words.next().ok_or("an errand is four words and more");
        let transport = named(&Transport::ALL, word()?)?;
        let length = word()?.parse()?;
        let reader = named(&Reader::ALL, word()?)?;
        let case = Case { transport, length, reader };
        Ok(Self { case, endpoint: word()?.parse()? })
    }
}

fn named<T: Copy + fmt::Debug>(all: &[T], name: &str) -> Result<T, Error> {
    let found = all.iter().find(|one| format!("{one:?}") == name);
    found.copied().ok_or_else(|| format!("nothing is called {name}").into())
}

/// What the memory of one case comes to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// Allocations of 4 KiB and more for one body.
    pub(crate) large: f64,
    /// Bytes allocated for one body.
    pub(crate) allocated: f64,
    /// Most bytes alive at one time, from before the connection.
    pub(crate) peak: f64,
    /// By how much the resident memory of the process has grown at most.
    pub(crate) resident: f64,
    /// Bytes that the content keeps alive when all else is gone.
    pub(crate) kept: f64,
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { large, allocated, peak, resident, kept } = self;
        write!(f, "{large} {allocated} {peak} {resident} {kept}")
    }
}

impl FromStr for Memory {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let [large, allocated, peak, resident, kept] = numbers(text)?;
        Ok(Self { large, allocated, peak, resident, kept })
    }
}

/// The numbers on a line of which there must be `N`.
pub(crate) fn numbers<const N: usize>(line: &str) -> Result<[f64; N], Error> {
    let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    numbers.try_into().map_err(|_| format!("not {N} numbers: {line}").into())
}
