//! What is compared: one client, and answers of one length.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use presized_support::client::Error;

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;
/// What Lambda answers with at most.
pub(crate) const SIX_MIB: u64 = 6 * MIB;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// aws-sdk-lambda.
    Sdk,
    Presized,
    /// presized, with memory from a pool.
    Pool,
}

impl Caller {
    pub(crate) const ALL: [Self; 3] = [Self::Sdk, Self::Presized, Self::Pool];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sdk => "aws-sdk-lambda",
            Self::Presized => "presized",
            Self::Pool => "presized, pool",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) caller: Caller,
    pub(crate) length: u64,
}

impl Case {
    /// Calls for one reading of the clock.
    pub(crate) fn batch(self) -> u64 {
        (4 * SIX_MIB / self.length).min(200)
    }

    /// Calls that each caller makes while many are in flight.
    pub(crate) fn in_turn(self) -> u64 {
        (10 * MIB / self.length).min(100)
    }
}

/// A case and where its server is, as text for the process that calls.
pub(crate) struct Errand {
    pub(crate) case: Case,
    pub(crate) server: SocketAddr,
}

impl fmt::Display for Errand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case: Case { caller, length }, server } = self;
        write!(f, "{caller:?} {length} {server}")
    }
}

impl FromStr for Errand {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let words: Vec<&str> = text.split(' ').collect();
        let [caller, length, server] = words[..] else {
            return Err("an errand is three words".into());
        };
        let mut callers = Caller::ALL.into_iter();
        let caller = callers.find(|one| format!("{one:?}") == caller).ok_or("no such caller")?;
        Ok(Self { case: Case { caller, length: length.parse()? }, server: server.parse()? })
    }
}
