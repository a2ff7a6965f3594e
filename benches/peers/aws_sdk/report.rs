//! The table, bars and the chart of a run.

use std::time::Duration;

use presized_benches::chart::{Chart, Panel};
use presized_benches::markdown::{Markdown, count, ratio};
use presized_peers::calls::{self, KIB, Memory, Outcome, Outcomes, SIX_MIB, Way};
use presized_support::bars::Bars;
use presized_support::table::{self, Table};

use crate::WAYS;

pub(crate) fn print(outcomes: &Outcomes) {
    println!("Allocator: {}\n", outcomes.allocator.name);
    println!("{}", figures(outcomes));
    println!("{NOTES}\n");
    println!("{}", bars(outcomes));
}

const NOTES: &str = "\
CPU time of the client thread and page faults are medians over rounds in which the clients take
turns. The ratio to the plain client is the median of the ratios within a round. Bytes allocated
are means. Peak is the most memory alive, that of the client included. Between calls, the memory
of the client alone is alive. Resident is the most memory of the process, above that before the
client. The SDK copies each payload into its output.";

fn figures(outcomes: &Outcomes) -> Table {
    let mut table = Table::new(
        2,
        ["", "", "CPU", "CPU", "page", "allocated", "allocated", "", "between", ""],
        [
            "response", "read by", "per call", "÷ plain", "faults", "per call", "÷ body", "peak",
            "calls", "resident",
        ],
    );
    for length in outcomes.lengths() {
        table.rule();
        for outcome in outcomes.all.iter().filter(|one| one.case.length == length) {
            let Memory { allocated, peak, idle, resident, .. } = outcome.memory;
            table.row([
                table::bytes(length),
                outcome.case.way.name().to_owned(),
                table::time(Duration::from_secs_f64(outcome.median_cpu())),
                table::times(outcomes.cpu_ratio(length, outcome.case.way)),
                format!("{:.0}", outcome.median_faults()),
                table::bytes(allocated as u64),
                table::times(allocated / length as f64),
                table::bytes(peak as u64),
                table::bytes(idle as u64),
                table::bytes(resident as u64),
            ]);
        }
    }
    table
}

fn bars(outcomes: &Outcomes) -> Bars {
    let mut bars = Bars::default();
    let allocated = |way| outcomes.figure(SIX_MIB, way, allocated);
    // With the interceptor: the buffer and the output. With a warm pool: the output alone. The read
    // buffer of hyper, 408 KiB, is replaced twice in a call.
    bars.at_most("bytes allocated ÷ 6 MiB", allocated(Way::Interceptor), 2.2);
    bars.at_most("bytes allocated ÷ 6 MiB, warm pool", allocated(Way::InterceptorPool), 1.2);
    bars.beside("bytes allocated ÷ 6 MiB, without the interceptor", allocated(Way::Sdk));
    let cpu = |length, way| outcomes.cpu_ratio(length, way);
    bars.at_most("CPU ÷ plain, 6 MiB", cpu(SIX_MIB, Way::Interceptor), 1.0);
    bars.at_most("CPU ÷ plain, 6 MiB, warm pool", cpu(SIX_MIB, Way::InterceptorPool), 1.0);
    bars.beside("CPU ÷ plain, 1 KiB", cpu(KIB, Way::Interceptor));
    bars
}

/// Returns the table of BENCHMARKS.md.
pub(crate) fn markdown(states: &[Outcomes]) -> Markdown {
    let all = |one: &Outcomes, figure: fn(&Outcome) -> f64, format: fn(f64) -> String| {
        WAYS.map(|way| format(one.figure(SIX_MIB, way, figure))).join(", ")
    };
    calls::markdown(
        states,
        &[
            ("CPU ÷ plain, 6 MiB", &|one| ratio(one.cpu_ratio(SIX_MIB, Way::Interceptor))),
            ("CPU ÷ plain, 6 MiB, warm pool", &|one| {
                ratio(one.cpu_ratio(SIX_MIB, Way::InterceptorPool))
            }),
            ("CPU ÷ plain, 1 KiB", &|one| ratio(one.cpu_ratio(KIB, Way::Interceptor))),
            ("bytes allocated ÷ 6 MiB: plain, interceptor, warm pool", &|one| {
                all(one, allocated, ratio)
            }),
            ("page faults of 6 MiB: plain, interceptor, warm pool", &|one| {
                all(one, Outcome::median_faults, count)
            }),
        ],
    )
}

/// Draws the figures of 6 MiB in each state.
pub(crate) fn chart(states: &[Outcomes]) -> Chart {
    let ratios = states.iter().map(|one| table::times(one.cpu_ratio(SIX_MIB, Way::Interceptor)));
    let title = format!(
        "The interceptor takes {} the CPU time of the plain SDK at 6 MiB, by allocator state",
        ratios.collect::<Vec<_>>().join(", "),
    );
    let note = "Invoke by aws-sdk-lambda over loopback HTTP/1.1, in each allocator state, medians. \
        The dashed line is the plain SDK.";
    let chart = WAYS
        .iter()
        .fold(Chart::new(title, note), |chart, way| chart.series(way.name(), way.color()));
    let values = |figure: fn(&Outcomes, Way) -> f64| {
        states.iter().map(move |outcomes| WAYS.map(|way| figure(outcomes, way)).into())
    };
    chart
        .groups(states.iter().map(|outcomes| outcomes.allocator.name.to_owned()))
        .panel(
            Panel::new(
                "CPU time, 6 MiB",
                "÷ plain SDK",
                values(|outcomes, way| outcomes.cpu_ratio(SIX_MIB, way)),
            )
            .reference(1.0),
        )
        .panel(Panel::new(
            "bytes allocated, 6 MiB",
            "÷ length of the response",
            values(|outcomes, way| outcomes.figure(SIX_MIB, way, allocated)),
        ))
        .panel(
            Panel::new(
                "page faults, 6 MiB",
                "for each call",
                values(|outcomes, way| outcomes.figure(SIX_MIB, way, Outcome::median_faults)),
            )
            .labelled(|value| format!("{value:.0}")),
        )
}

/// Returns the bytes that a call allocates ÷ the length of its response.
fn allocated(outcome: &Outcome) -> f64 {
    outcome.memory.allocated / outcome.case.length as f64
}
