//! The tables of a run.

use std::time::Duration;

use presized_benches::markdown::{Markdown, ratio, several};
use presized_benches::record::{Rows, figure};
use presized_peers::calls::{KIB, Outcome, Outcomes, SIX_MIB, Way};
use presized_support::table::{self, Table};

use crate::LENGTHS;

/// The figures of one protocol, in all states of the allocator.
pub(crate) struct OfProtocol {
    pub(crate) name: &'static str,
    pub(crate) states: Vec<Outcomes>,
}

pub(crate) fn print(protocol: &str, outcomes: &Outcomes) {
    println!("{protocol} over TLS, allocator: {}\n", outcomes.allocator.name);
    println!("{}", figures(outcomes));
}

fn figures(outcomes: &Outcomes) -> Table {
    let mut table = Table::new(
        2,
        ["", "", "CPU", "CPU", "page", "allocated", "allocated"],
        ["response", "called with", "per call", "÷ SDK", "faults", "per call", "÷ SDK"],
    );
    for length in outcomes.lengths() {
        table.rule();
        for outcome in outcomes.all.iter().filter(|one| one.case.length == length) {
            let way = outcome.case.way;
            table.row([
                table::bytes(length),
                way.name().to_owned(),
                table::time(Duration::from_secs_f64(outcome.median_cpu())),
                table::times(outcomes.cpu_ratio(length, way)),
                format!("{:.0}", outcome.median_faults()),
                table::bytes(outcome.memory.allocated as u64),
                table::times(outcomes.ratio(length, way, |one| one.memory.allocated)),
            ]);
        }
    }
    table
}

/// Returns the figures for a CSV file.
pub(crate) fn rows(protocols: &[OfProtocol]) -> Rows {
    let mut rows = Rows::new([
        "protocol",
        "allocator",
        "response_bytes",
        "client",
        "cpu_us",
        "cpu_ratio_to_sdk",
        "page_faults",
        "allocations",
        "allocated_bytes",
    ]);
    for OfProtocol { name, states } in protocols {
        for outcomes in states {
            for outcome in &outcomes.all {
                let (way, length) = (outcome.case.way, outcome.case.length);
                rows.push([
                    (*name).to_owned(),
                    outcomes.allocator.name.to_owned(),
                    length.to_string(),
                    way.name().to_owned(),
                    figure(outcome.median_cpu() * 1e6),
                    figure(outcomes.cpu_ratio(length, way)),
                    figure(outcome.median_faults()),
                    figure(outcome.memory.allocations),
                    figure(outcome.memory.allocated),
                ]);
            }
        }
    }
    rows
}

/// Returns the table of BENCHMARKS.md.
pub(crate) fn markdown(protocols: &[OfProtocol]) -> Markdown {
    let mut table = Markdown::new([
        "CPU ÷ SDK",
        "1 KiB",
        "1 MiB",
        "6 MiB",
        "1 KiB, default, µs: SDK, presized",
        "6 MiB, default, ms: SDK, presized",
    ]);
    for OfProtocol { name, states } in protocols {
        for (way, suffix) in [(Way::Presized, ""), (Way::PresizedPool, ", warm pool")] {
            let [kib, mib, six_mib] = LENGTHS.map(|length| {
                several(states.iter().map(|state| state.cpu_ratio(length, way)), ratio)
            });
            let cpu = |length| {
                [Way::Sdk, way].map(|way| states[0].figure(length, way, Outcome::median_cpu))
            };
            table.row([
                format!("{name}{suffix}"),
                kib,
                mib,
                six_mib,
                cpu(KIB).map(|cpu| format!("{:.0}", cpu * 1e6)).join(", "),
                cpu(SIX_MIB).map(|cpu| format!("{:.1}", cpu * 1e3)).join(", "),
            ]);
        }
    }
    table
}
