//! The tables, bars and the chart of a run.

use std::time::Duration;

use presized_benches::chart::{Chart, Panel};
use presized_benches::markdown::{Markdown, count, ratio};
use presized_peers::calls::{self, IN_FLIGHT, KIB, MIB, Memory, Outcomes, SIX_MIB, Way};
use presized_support::bars::Bars;
use presized_support::table::{self, Table};

use crate::WAYS;

pub(crate) fn print(outcomes: &Outcomes) {
    println!("Allocator: {}\n", outcomes.allocator.name);
    println!("One call at a time:\n");
    println!("{}", figures(outcomes));
    println!("{NOTES}\n");
    println!("{IN_FLIGHT} calls at a time:\n");
    println!("{}", latencies(outcomes));
    println!("{LATENCY_NOTES}\n");
    println!("{}", bars(outcomes));
}

const NOTES: &str = "\
CPU time of the client thread and page faults are medians over rounds in which the clients take
turns. The ratio to aws-sdk-lambda is the median of the ratios within a round. Allocations
(large: 4 KiB and more) and bytes allocated are means. Peak is the most memory alive, that of the
client included. Between calls, the memory of the client alone is alive.";

const LATENCY_NOTES: &str = "\
Medians over rounds in which the clients take turns. The client has one thread, which also
compares every byte of every response.";

fn figures(outcomes: &Outcomes) -> Table {
    let mut table = Table::new(
        2,
        ["", "", "CPU", "CPU", "page", "", "large", "allocated", "allocated", "", "between"],
        [
            "response",
            "called with",
            "per call",
            "÷ SDK",
            "faults",
            "allocs",
            "allocs",
            "per call",
            "÷ SDK",
            "peak",
            "calls",
        ],
    );
    for length in outcomes.lengths() {
        table.rule();
        for outcome in outcomes.all.iter().filter(|one| one.case.length == length) {
            let way = outcome.case.way;
            let Memory { allocations, large, allocated, peak, idle, .. } = outcome.memory;
            table.row([
                table::bytes(length),
                way.name().to_owned(),
                time(outcome.median_cpu()),
                table::times(outcomes.cpu_ratio(length, way)),
                format!("{:.0}", outcome.median_faults()),
                format!("{allocations:.0}"),
                format!("{large:.1}"),
                table::bytes(allocated as u64),
                table::times(outcomes.ratio(length, way, |one| one.memory.allocated)),
                table::bytes(peak as u64),
                table::bytes(idle as u64),
            ]);
        }
    }
    table
}

fn latencies(outcomes: &Outcomes) -> Table {
    let mut table = Table::new(
        2,
        ["", "", "", "p50", "", "p99"],
        ["response", "called with", "p50", "÷ SDK", "p99", "÷ SDK"],
    );
    for length in outcomes.lengths() {
        let mut measured = outcomes
            .all
            .iter()
            .filter(|one| one.case.length == length && !one.latency.is_empty())
            .peekable();
        if measured.peek().is_some() {
            table.rule();
        }
        for outcome in measured {
            let way = outcome.case.way;
            let latency = outcome.median_latency();
            table.row([
                table::bytes(length),
                way.name().to_owned(),
                time(latency.p50),
                table::times(outcomes.ratio(length, way, |one| one.median_latency().p50)),
                time(latency.p99),
                table::times(outcomes.ratio(length, way, |one| one.median_latency().p99)),
            ]);
        }
    }
    table
}

fn bars(outcomes: &Outcomes) -> Bars {
    let mut bars = Bars::default();
    let cpu = |length| outcomes.cpu_ratio(length, Way::Presized);
    bars.at_most("CPU ÷ aws-sdk-lambda, 1 KiB", cpu(KIB), 0.27);
    bars.at_most("CPU ÷ aws-sdk-lambda, 6 MiB", cpu(SIX_MIB), 0.35);
    let allocated = outcomes.ratio(SIX_MIB, Way::Presized, |one| one.memory.allocated);
    bars.at_most("bytes allocated ÷ aws-sdk-lambda, 6 MiB", allocated, 0.36);
    let faults = outcomes.find(SIX_MIB, Way::PresizedPool).map_or(&[][..], |one| &one.faults);
    let value = table::median(faults.iter().copied());
    bars.exactly("page faults of a call, 6 MiB, warm pool", value, 0.0);
    let value = faults.iter().sum::<f64>() / faults.len() as f64;
    bars.beside("page faults of a call, 6 MiB, warm pool, mean of all rounds", value);
    let pooled = outcomes.cpu_ratio(SIX_MIB, Way::PresizedPool);
    bars.beside("CPU ÷ aws-sdk-lambda, 6 MiB, warm pool", pooled);
    bars
}

/// Returns the table of BENCHMARKS.md.
pub(crate) fn markdown(states: &[Outcomes]) -> Markdown {
    let p50 = |one: &calls::Outcome| one.median_latency().p50;
    let p99 = |one: &calls::Outcome| one.median_latency().p99;
    let (presized, pool) = (Way::Presized, Way::PresizedPool);
    calls::markdown(
        states,
        &[
            ("CPU ÷ SDK, 1 KiB", &|one| ratio(one.cpu_ratio(KIB, presized))),
            ("CPU ÷ SDK, 6 MiB", &|one| ratio(one.cpu_ratio(SIX_MIB, presized))),
            ("CPU ÷ SDK, 6 MiB, warm pool", &|one| ratio(one.cpu_ratio(SIX_MIB, pool))),
            ("bytes allocated ÷ SDK, 6 MiB", &|one| {
                ratio(one.ratio(SIX_MIB, presized, |one| one.memory.allocated))
            }),
            ("page faults of a call of 6 MiB: SDK, presized, warm pool", &|one| {
                let faults =
                    WAYS.map(|way| count(one.figure(SIX_MIB, way, calls::Outcome::median_faults)));
                faults.join(", ")
            }),
            ("p50, p99 ÷ SDK, 64 in flight, 1 KiB", &|one| {
                let ratios = [one.ratio(KIB, presized, p50), one.ratio(KIB, presized, p99)];
                ratios.map(ratio).join(", ")
            }),
            ("p50, p99 ÷ SDK, 64 in flight, 1 MiB", &|one| {
                let ratios = [one.ratio(MIB, presized, p50), one.ratio(MIB, presized, p99)];
                ratios.map(ratio).join(", ")
            }),
        ],
    )
}

pub(crate) fn chart(outcomes: &Outcomes) -> Chart {
    let longest = outcomes.lengths().into_iter().max().unwrap_or_default();
    let title = format!(
        "Invoke: presized takes {} the CPU time of aws-sdk-lambda at 1 KiB, {} at {}",
        table::times(outcomes.cpu_ratio(KIB, Way::Presized)),
        table::times(outcomes.cpu_ratio(longest, Way::Presized)),
        table::bytes(longest),
    );
    let note = "Loopback HTTP/1.1, default allocator, medians. The dashed line is aws-sdk-lambda.";
    let cpu = outcomes.values(&WAYS, |length, way| outcomes.cpu_ratio(length, way));
    let ratio = |figure: fn(&calls::Outcome) -> f64| {
        outcomes.values(&WAYS, |length, way| outcomes.ratio(length, way, figure))
    };
    calls::chart(title, note, &WAYS, outcomes)
        .panel(Panel::new("CPU time", SDK, cpu).reference(1.0))
        .panel(Panel::new("bytes allocated", SDK, ratio(|one| one.memory.allocated)).reference(1.0))
        .panel(
            Panel::new("p99, 64 calls in flight", SDK, ratio(|one| one.median_latency().p99))
                .reference(1.0),
        )
}

const SDK: &str = "÷ aws-sdk-lambda";

fn time(seconds: f64) -> String {
    table::time(Duration::from_secs_f64(seconds))
}
