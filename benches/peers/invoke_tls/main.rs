//! Calls of a function over TLS: aws-sdk-lambda and presized, each with its default TLS.
//!
//! This process runs the servers. Everything is measured in three states of the allocator.

mod report;

use presized_benches::{allocator, child, record};
use presized_peers::calls::{self, KIB, MIB, Outcomes, Rounds, SIX_MIB, Way};
use presized_peers::server::{self, Protocol};
use presized_support::bars::is_trial;
use presized_support::client::Error;
use presized_support::ledger::Ledger;

use crate::report::OfProtocol;

/// Counts in the client processes, while their memory is measured.
#[global_allocator]
static LEDGER: Ledger = Ledger;

fn main() -> Result<(), Error> {
    if let Some(job) = child::job() {
        return calls::run(&job);
    }
    let rounds = Rounds { one_call: if is_trial() { 2 } else { 40 }, many_calls: 0 };
    let mut protocols = Vec::new();
    for (name, protocol) in PROTOCOLS {
        let server = server::start(protocol)?;
        let mut states = Vec::new();
        for allocator in allocator::ALL {
            let mut all = Vec::new();
            for length in LENGTHS {
                all.extend(calls::take_turns(&server, allocator, &WAYS, length, rounds)?);
            }
            let outcomes = Outcomes { allocator, all };
            report::print(name, &outcomes);
            states.push(outcomes);
        }
        protocols.push(OfProtocol { name, states });
    }
    record::rows("invoke-tls", &report::rows(&protocols))?;
    record::table("invoke-tls", &report::markdown(&protocols))?;
    Ok(())
}

const PROTOCOLS: [(&str, Protocol); 2] =
    [("HTTP/1.1", Protocol::Http1Tls), ("HTTP/2", Protocol::Http2Tls)];

const LENGTHS: [u64; 3] = [KIB, MIB, SIX_MIB];

const WAYS: [Way; 3] = [Way::Sdk, Way::Presized, Way::PresizedPool];
