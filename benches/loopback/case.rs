//! One case of the benchmark: a way to read a body, of one length, over one transport.

use std::fmt;
use std::str::FromStr;

use presized_support::client::{Endpoint, Error};
use presized_support::server::{Protocol, known, unknown};

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;
/// The largest payload of Lambda, and the length that most bars are about.
pub(crate) const SIX_MIB: u64 = 6 * MIB;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// HTTP/1.1 with Content-Length.
    Http1,
    /// HTTP/1.1 with Transfer-Encoding: chunked.
    Chunked,
    /// HTTP/2 with Content-Length.
    Http2,
    /// HTTP/1.1 with Content-Length, over TLS.
    Tls,
    /// HTTP/1.1 with Transfer-Encoding: chunked, over TLS.
    TlsChunked,
}

impl Transport {
    pub(crate) const ALL: [Self; 5] =
        [Self::Http1, Self::Chunked, Self::Http2, Self::Tls, Self::TlsChunked];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Http1 => "HTTP/1.1",
            Self::Chunked => "chunked",
            Self::Http2 => "HTTP/2",
            Self::Tls => "TLS",
            Self::TlsChunked => "TLS, chunked",
        }
    }

    pub(crate) fn protocol(self) -> Protocol {
        match self {
            Self::Http1 | Self::Chunked => Protocol::Http1,
            Self::Http2 => Protocol::Http2,
            Self::Tls | Self::TlsChunked => Protocol::Tls,
        }
    }

    pub(crate) fn path(self, length: u64) -> String {
        if self.is_chunked() { unknown(length) } else { known(length) }
    }

    fn is_chunked(self) -> bool {
        matches!(self, Self::Chunked | Self::TlsChunked)
    }
}

/// A way to read a body, from the request to the release of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// `http_body_util`: `collect().to_bytes()`.
    Collect,
    Presized,
    /// presized with an eager bound of 64 MiB.
    Eager,
    /// presized, which appends to one buffer for all bodies.
    AppendTo,
    /// presized with a pool.
    Pool,
    /// presized with a history of lengths.
    History,
    /// presized with a pool and a history.
    PoolHistory,
    /// reqwest: `bytes()`.
    Reqwest,
    /// presized on a response of reqwest.
    ReqwestPresized,
    /// read(2) into memory that is allocated for each body.
    Read,
    /// read(2) into memory that is allocated once for all bodies.
    ReadInto,
}

impl Way {
    pub(crate) const ALL: [Self; 11] = [
        Self::Collect,
        Self::Presized,
        Self::Eager,
        Self::AppendTo,
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
            Self::AppendTo => "presized, append_to",
            Self::Pool => "presized, pool",
            Self::History => "presized, history",
            Self::PoolHistory => "presized, pool and history",
            Self::Reqwest => "reqwest bytes()",
            Self::ReqwestPresized => "reqwest and presized",
            Self::Read => "read(2), fresh Vec",
            Self::ReadInto => "read(2), one Vec for all",
        }
    }

    /// The way that this one is compared with.
    pub(crate) fn peer(self) -> Self {
        if self == Self::ReqwestPresized { Self::Reqwest } else { Self::Collect }
    }

    /// Returns whether earlier bodies change how this way reads the next one.
    pub(crate) fn settles(self) -> bool {
        matches!(self, Self::Pool | Self::History | Self::PoolHistory)
    }

    /// Returns whether such a body takes a path of its own through this way.
    fn suits(self, transport: Transport, length: u64) -> bool {
        match self {
            Self::Eager => length > 16 * MIB && !transport.is_chunked(),
            // A declared length leaves nothing to predict.
            Self::History | Self::PoolHistory => transport.is_chunked(),
            // The lower bound has no decoder for chunks, HTTP/2 or TLS.
            Self::AppendTo | Self::Read | Self::ReadInto => transport == Transport::Http1,
            Self::Reqwest | Self::ReqwestPresized => transport != Transport::TlsChunked,
            _ => true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) transport: Transport,
    pub(crate) length: u64,
    pub(crate) way: Way,
}

impl Case {
    /// Returns all cases with such a body.
    pub(crate) fn of(transport: Transport, length: u64) -> impl Iterator<Item = Self> {
        let ways = Way::ALL.into_iter().filter(move |way| way.suits(transport, length));
        ways.map(move |way| Self { transport, length, way })
    }

    /// The number of bodies for one reading of the clock.
    pub(crate) fn batch(self) -> u64 {
        (4 * MIB / self.length).clamp(1, 200)
    }
}

/// A case and the address of its server, as text for the client process.
pub(crate) struct Job {
    pub(crate) case: Case,
    pub(crate) endpoint: Endpoint,
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { transport, length, way } = self.case;
        write!(f, "{transport:?} {length} {way:?} {}", self.endpoint)
    }
}

impl FromStr for Job {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut words = text.splitn(4, ' ');
        let mut word = || words.next().ok_or("a job has four words or more");
        let transport = named(&Transport::ALL, word()?)?;
        let length = word()?.parse()?;
        let way = named(&Way::ALL, word()?)?;
        let case = Case { transport, length, way };
        Ok(Self { case, endpoint: word()?.parse()? })
    }
}

fn named<T: Copy + fmt::Debug>(all: &[T], name: &str) -> Result<T, Error> {
    let found = all.iter().find(|one| format!("{one:?}") == name);
    found.copied().ok_or_else(|| format!("unknown name: {name}").into())
}
