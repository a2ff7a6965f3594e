//! Calls of a function over loopback by aws-sdk-lambda, with the interceptor and without it.
//!
//! This process runs the server. Everything is measured in three states of the allocator.

mod report;

use presized_benches::{allocator, child, record};
use presized_peers::calls::{self, KIB, Outcomes, Rounds, SIX_MIB, Way};
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
    let rounds = Rounds { one_call: if is_trial() { 2 } else { 40 }, many_calls: 0 };
    let mut states = Vec::new();
    for allocator in allocator::ALL {
        let mut all = Vec::new();
        for length in [KIB, SIX_MIB] {
            all.extend(calls::take_turns(&server, allocator, &WAYS, length, rounds)?);
        }
        let outcomes = Outcomes { allocator, all };
        report::print(&outcomes);
        states.push(outcomes);
    }
    record::rows("aws-sdk", &calls::rows(&states))?;
    record::chart("aws-sdk", &report::chart(&states))?;
    record::table("aws-sdk", &report::markdown(&states))?;
    Ok(())
}

const WAYS: [Way; 3] = [Way::Sdk, Way::Interceptor, Way::InterceptorPool];
