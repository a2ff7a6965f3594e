//! Calls of a function over loopback: aws-sdk-lambda and presized, each with its defaults.
//!
//! This process runs the server. Everything is measured in three states of the allocator.

mod report;

use presized_benches::{allocator, child, record};
use presized_peers::calls::{self, KIB, MIB, Outcomes, Rounds, SIX_MIB, Way};
use presized_peers::server::{self, Protocol};
use presized_support::bars::is_trial;
use presized_support::client::Error;
use presized_support::ledger::Ledger;

/// Counts in the client processes, while their memory is measured.
#[global_allocator]
static LEDGER: Ledger = Ledger;

fn main() -> Result<(), Error> {
    if let Some(job) = child::job() {
        return calls::run(&job);
    }
    let server = server::start(Protocol::Http1)?;
    let mut states = Vec::new();
    for allocator in allocator::ALL {
        let mut all = Vec::new();
        for &length in if is_trial() { &[KIB, MIB][..] } else { &[KIB, MIB, SIX_MIB] } {
            all.extend(calls::take_turns(&server, allocator, &WAYS, length, rounds(length))?);
        }
        let outcomes = Outcomes { allocator, all };
        report::print(&outcomes);
        states.push(outcomes);
    }
    record::rows("invoke", &calls::rows(&states))?;
    record::chart("invoke", &report::chart(&states[0]))?;
    record::table("invoke", &report::markdown(&states))?;
    Ok(())
}

const WAYS: [Way; 3] = [Way::Sdk, Way::Presized, Way::PresizedPool];

fn rounds(length: u64) -> Rounds {
    let (one_call, many_calls) = if is_trial() { (2, 1) } else { (40, 5) };
    // 64 responses of 6 MiB at a time are rare.
    Rounds { one_call, many_calls: if length < SIX_MIB { many_calls } else { 0 } }
}
