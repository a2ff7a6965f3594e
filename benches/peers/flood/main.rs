//! A hundred thousand calls, many at a time, of which one in a hundred is answered by
//! something broken: none is lost, none runs twice, and memory stays as it is.
//!
//! This process has the server, which keeps a record of every call; the client is in a
//! process of its own. The accounts of both are compared, call by call.

mod answer;
mod client;
mod report;
mod server;
mod tally;

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Instant;

use presized_peers::child;
use presized_support::bars::is_trial;
use presized_support::client::Error;
use presized_support::ledger::Ledger;

use crate::client::question;
use crate::report::Outcome;

/// Counts in the process that calls.
#[global_allocator]
static LEDGER: Ledger = Ledger;

fn main() -> Result<(), Error> {
    if let Some(errand) = child::errand() {
        return client::run(errand.parse()?);
    }
    let calls = if is_trial() { 5_000 } else { 100_000 };
    // The heap of glibc has the size that it keeps after some two hundred thousand.
    let warm_up = 2 * calls;
    let (server, record) = server::start(warm_up + calls)?;
    let errand = Errand { warm_up, calls, in_flight: 256, server };
    let start = Instant::now();
    let mut client = child::Client::start(&errand.to_string(), &[])?;
    let ends = client.ask(question::ENDS)?;
    let time = start.elapsed();
    let errors = client.ask(question::ERRORS)?;
    let memory = client.ask_numbers(question::MEMORY)?;
    client.finish()?;
    let outcome = Outcome::of(&record, ends.as_bytes(), memory);
    report::print(errand, &outcome, &errors, time);
    outcome.verify()
}

/// What a client is to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Errand {
    /// Calls before those that memory is looked at in: they make the connections.
    pub(crate) warm_up: u32,
    pub(crate) calls: u32,
    /// Calls that are open at the same time.
    pub(crate) in_flight: u32,
    pub(crate) server: SocketAddr,
}

impl fmt::Display for Errand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { warm_up, calls, in_flight, server } = self;
        write!(f, "{warm_up} {calls} {in_flight} {server}")
    }
}

impl FromStr for Errand {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let words: Vec<&str> = text.split(' ').collect();
        let [warm_up, calls, in_flight, server] = words[..] else {
            return Err("an errand is four words".into());
        };
        let (warm_up, calls, in_flight) = (warm_up.parse()?, calls.parse()?, in_flight.parse()?);
        Ok(Self { warm_up, calls, in_flight, server: server.parse()? })
    }
}
