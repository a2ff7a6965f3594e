//! Calls of a function over loopback, by several clients that take turns.
//!
//! Each case is measured by a client process of its own.

mod case;
mod client;
mod connection;
mod outcome;
mod way;

use presized_benches::allocator::Allocator;
use presized_benches::child;
use presized_support::client::Error;

pub use self::case::Case;
use self::case::Job;
use self::client::command;
pub use self::client::{IN_FLIGHT, run};
pub use self::outcome::{Figure, Latency, Memory, Outcome, Outcomes, chart, markdown, rows};
pub use self::way::Way;
use crate::api::Endpoint;

/// 1 KiB in bytes.
pub const KIB: u64 = 1 << 10;
/// 1 MiB in bytes.
pub const MIB: u64 = 1 << 20;
/// The largest response of Lambda, in bytes.
pub const SIX_MIB: u64 = 6 * MIB;

/// The number of rounds in which each client has a turn.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// With one call at a time.
    pub one_call: usize,
    /// With [`IN_FLIGHT`] calls at a time.
    pub many_calls: usize,
}

/// Measures all ways to call for a response of this length. The clients take turns.
pub fn take_turns(
    server: &Endpoint,
    allocator: Allocator,
    ways: &[Way],
    length: u64,
    rounds: Rounds,
) -> Result<Vec<Outcome>, Error> {
    let mut clients = Vec::new();
    for &way in ways {
        let case = Case { way, length };
        let job = serde_json::to_string(&Job { case, server: server.clone() })?;
        let mut client = child::Client::start(&job, allocator.variables)?;
        let memory = client.ask_numbers::<6>(command::MEMORY)?.into();
        clients.push((client, Outcome::new(case, memory)));
    }
    for _ in 0..rounds.one_call {
        for (client, outcome) in &mut clients {
            let [cpu, faults] = client.ask_numbers(command::COST)?;
            outcome.cpu.push(cpu);
            outcome.faults.push(faults);
        }
    }
    for _ in 0..rounds.many_calls {
        for (client, outcome) in &mut clients {
            let [p50, p99] = client.ask_numbers(command::LATENCY)?;
            outcome.latency.push(Latency { p50, p99 });
        }
    }
    let finish = |(client, outcome): (child::Client, _)| client.finish().map(|()| outcome);
    clients.into_iter().map(finish).collect()
}
