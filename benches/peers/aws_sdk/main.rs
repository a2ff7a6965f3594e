//! Calls of a function over loopback by aws-sdk-lambda: with the interceptor and without it.
//!
//! This process has the server. Every case is called by a process of its own, and the
//! processes of one length take turns. All of it is done in three states of the allocator:
//! as it comes, one that keeps what was freed, and one that gives it back to the kernel.

mod case;
mod client;
mod report;

use std::net::SocketAddr;

use presized_peers::allocator::{Allocator, GIVES_BACK, KEEPS, UNTUNED};
use presized_peers::{child, server};
use presized_support::bars::is_trial;
use presized_support::client::Error;
use presized_support::ledger::Ledger;

use crate::case::{Case, Errand, KIB, Reader, SIX_MIB};
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
        for length in [KIB, SIX_MIB] {
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
}

/// What the memory of one case comes to, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Allocated for one call.
    pub(crate) allocated: f64,
    /// Alive at one time, at the most.
    pub(crate) peak: f64,
    /// Alive between two calls.
    pub(crate) idle: f64,
    /// Resident, at the most, above what was before the client.
    pub(crate) resident: f64,
}

/// Lets the client read answers of this length in all ways in turn.
fn take_turns(
    server: SocketAddr,
    allocator: Allocator,
    length: u64,
) -> Result<Vec<Outcome>, Error> {
    let mut clients = Reader::ALL
        .map(|reader| Process::start(Errand { case: Case { reader, length }, server }, allocator))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    for _ in 0..if is_trial() { 2 } else { 40 } {
        for client in &mut clients {
            client.call_in_turn()?;
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
        let [allocated, peak, idle, resident] = client.ask_numbers(question::MEMORY)?;
        let memory = Memory { allocated, peak, idle, resident };
        let (cpu, faults) = (Vec::new(), Vec::new());
        Ok(Self { client, outcome: Outcome { case: errand.case, memory, cpu, faults } })
    }

    fn call_in_turn(&mut self) -> Result<(), Error> {
        let [cpu, faults] = self.client.ask_numbers(question::COST)?;
        self.outcome.cpu.push(cpu);
        self.outcome.faults.push(faults);
        Ok(())
    }

    fn finish(self) -> Result<Outcome, Error> {
        self.client.finish()?;
        Ok(self.outcome)
    }
}
