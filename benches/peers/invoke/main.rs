//! Calls of a function over loopback: aws-sdk-lambda and presized, each with its defaults.
//!
//! This process has the server. Every case is called by a process of its own, and the
//! processes of one length take turns. All of it is done in three states of the allocator:
//! as it comes, one that keeps what was freed, and one that gives it back to the kernel.

mod case;
mod client;
mod connection;
mod report;

use std::net::SocketAddr;

use presized_peers::allocator::{Allocator, GIVES_BACK, KEEPS, UNTUNED};
use presized_peers::{child, server};
use presized_support::bars::is_trial;
use presized_support::client::Error;
use presized_support::ledger::Ledger;

use crate::case::{Caller, Case, Errand, KIB, MIB, SIX_MIB};
use crate::client::question;

/// Counts in the processes that call, while memory is looked at.
#[global_allocator]
static LEDGER: Ledger = Ledger;

fn main() -> Result<(), Error> {
    if let Some(errand) = child::errand() {
        return client::run(&errand.parse()?);
    }
    let server = server::start()?;
    for allocator in [UNTUNED, KEEPS, GIVES_BACK] {
        let mut outcomes = Vec::new();
        for &length in if is_trial() { &[KIB, MIB][..] } else { &[KIB, MIB, SIX_MIB] } {
            outcomes.extend(take_turns(server, allocator, length)?);
        }
        report::print(allocator, &outcomes);
    }
    Ok(())
}

/// What was measured of one case.
pub(crate) struct Outcome {
    pub(crate) case: Case,
    pub(crate) memory: Memory,
    /// Seconds for one call, in every round.
    pub(crate) cpu: Vec<f64>,
    /// Page faults for one call, in every round.
    pub(crate) faults: Vec<f64>,
    /// Seconds from a call to its answer with many in flight, in every round.
    pub(crate) latency: Vec<Latency>,
}

/// What the memory of one case comes to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Allocations for one call.
    pub(crate) allocations: f64,
    /// Those of 4 KiB and more.
    pub(crate) large: f64,
    /// Bytes allocated for one call.
    pub(crate) allocated: f64,
    /// Most bytes alive at one time.
    pub(crate) peak: f64,
    /// Bytes alive between two calls.
    pub(crate) idle: f64,
}

/// The calls of one round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

/// Lets all clients call for answers of this length in turn.
fn take_turns(
    server: SocketAddr,
    allocator: Allocator,
    length: u64,
) -> Result<Vec<Outcome>, Error> {
    let mut clients = Caller::ALL
        .map(|caller| Process::start(Errand { case: Case { caller, length }, server }, allocator))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    for _ in 0..if is_trial() { 2 } else { 40 } {
        for client in &mut clients {
            client.call_in_turn()?;
        }
    }
    // Answers of six megabytes are seldom asked for by the dozen.
    if length < SIX_MIB {
        for _ in 0..if is_trial() { 1 } else { 5 } {
            for client in &mut clients {
                client.call_at_once()?;
            }
        }
    }
    clients.into_iter().map(Process::finish).collect()
}

/// A process that calls, for one case.
struct Process {
    client: child::Client,
    outcome: Outcome,
}

impl Process {
    fn start(errand: Errand, allocator: Allocator) -> Result<Self, Error> {
        let mut client = child::Client::start(&errand.to_string(), allocator.variables)?;
        let [allocations, large, allocated, peak, idle] = client.ask_numbers(question::MEMORY)?;
        let memory = Memory { allocations, large, allocated, peak, idle };
        let (cpu, faults, latency) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { client, outcome: Outcome { case: errand.case, memory, cpu, faults, latency } })
    }

    fn call_in_turn(&mut self) -> Result<(), Error> {
        let [cpu, faults] = self.client.ask_numbers(question::COST)?;
        self.outcome.cpu.push(cpu);
        self.outcome.faults.push(faults);
        Ok(())
    }

    fn call_at_once(&mut self) -> Result<(), Error> {
        let [p50, p99] = self.client.ask_numbers(question::LATENCY)?;
        self.outcome.latency.push(Latency { p50, p99 });
        Ok(())
    }

    fn finish(self) -> Result<Outcome, Error> {
        self.client.finish()?;
        Ok(self.outcome)
    }
}
