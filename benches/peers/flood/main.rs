//! A hundred thousand calls, many at a time. One response in a hundred is broken. No call may be
//! lost, none may run twice, and memory must not grow. All of it runs without TLS, with TLS, and with
//! TLS through an HTTP proxy.
//!
//! This process runs the server, which records each call. The client is a process of its own. The
//! records of both are compared, call by call.

mod client;
mod report;
mod response;
mod server;
mod tally;

use std::time::Instant;

use presized_benches::child;
use presized_peers::api::Endpoint;
use presized_support::bars::is_trial;
use presized_support::client::Error;
use presized_support::ledger::Ledger;
use presized_support::relay::Relay;
use serde::{Deserialize, Serialize};

use crate::client::command;
use crate::report::Outcome;

/// Counts in the client process.
#[global_allocator]
static LEDGER: Ledger = Ledger;

fn main() -> Result<(), Error> {
    if let Some(job) = child::job() {
        return client::run(&serde_json::from_str(&job)?);
    }
    [Path::Plain, Path::Tls, Path::Proxy].into_iter().try_for_each(flood)
}

fn flood(path: Path) -> Result<(), Error> {
    let calls = if is_trial() { 5_000 } else { 100_000 };
    // The heap of glibc reaches its final size after about 200,000 calls.
    let warm_up = 2 * calls;
    let (server, record) = server::start(warm_up + calls, path != Path::Plain)?;
    let relay = (path == Path::Proxy).then(|| Relay::start(server.address));
    let proxy = relay.as_ref().map(|relay| format!("http://{}", relay.address()));
    let job = Job { warm_up, calls, in_flight: 256, server, proxy };
    let start = Instant::now();
    let mut client = child::Client::start(&serde_json::to_string(&job)?, &[])?;
    let ends = client.ask(command::ENDS)?;
    let time = start.elapsed();
    let errors = client.ask(command::ERRORS)?;
    let memory = client.ask_numbers(command::MEMORY)?;
    client.finish()?;
    let outcome = Outcome::of(&record, ends.as_bytes(), memory);
    println!("{}:\n", path.name());
    if let Some(relay) = &relay {
        println!("{} tunnels of the proxy\n", relay.heads().len());
    }
    report::print(&job, &outcome, &errors, time);
    outcome.verify()
}

/// The path of the calls to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Plain,
    Tls,
    /// TLS through a tunnel of an HTTP proxy.
    Proxy,
}

impl Path {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "Without TLS",
            Self::Tls => "With TLS",
            Self::Proxy => "With TLS through a proxy",
        }
    }
}

/// The work of the client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Calls before memory is measured.
    pub(crate) warm_up: u32,
    /// Calls while memory is measured.
    pub(crate) calls: u32,
    /// Calls in flight at the same time.
    pub(crate) in_flight: u32,
    pub(crate) server: Endpoint,
    /// The URL of an HTTP proxy.
    pub(crate) proxy: Option<String>,
}
