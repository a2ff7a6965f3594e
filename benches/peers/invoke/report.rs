//! The figures of one state of the allocator, and the bars.

use std::time::Duration;

use presized_peers::allocator::Allocator;
use presized_support::bars::Bars;
use presized_support::table::{self, Table, median};

use crate::case::{Caller, KIB, SIX_MIB};
use crate::client::IN_FLIGHT;
use crate::{Memory, Outcome};

pub(crate) fn print(allocator: Allocator, outcomes: &[Outcome]) {
    println!("Allocator: {}\n", allocator.name);
    println!("One call at a time:\n");
    println!("{}", figures(outcomes));
    println!("{NOTES}\n");
    println!("{IN_FLIGHT} calls at a time:\n");
    println!("{}", latencies(outcomes));
    println!("{LATENCY_NOTES}\n");
    println!("{}", bars(outcomes));
}

const NOTES: &str = "\
CPU time of the client thread and page faults are medians over rounds in which the clients
take turns, and the ratio to aws-sdk-lambda is the median of the ratios within a round.
Allocations (large: 4 KiB and more) and bytes allocated are means. Peak is the most memory
alive, that of the client itself included, which is what is alive between two calls.";

const LATENCY_NOTES: &str = "\
Medians over rounds in which the clients take turns. The client has one thread, which also
compares every byte of every answer.";

fn figures(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new(
        2,
        ["", "", "CPU", "CPU", "page", "", "large", "allocated", "allocated", "", "between"],
        [
            "answer",
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
    let mut length = None;
    for outcome in outcomes {
        let case = outcome.case;
        if length.replace(case.length) != Some(case.length) {
            table.rule();
        }
        let Memory { allocations, large, allocated, peak, idle } = outcome.memory;
        table.row([
            table::bytes(case.length),
            case.caller.name().to_owned(),
            time(median(outcome.cpu.iter().copied())),
            table::times(cpu_ratio(outcomes, case.length, case.caller)),
            format!("{:.0}", median(outcome.faults.iter().copied())),
            format!("{allocations:.0}"),
            format!("{large:.1}"),
            table::bytes(allocated as u64),
            table::times(allocated_ratio(outcomes, case.length, case.caller)),
            table::bytes(peak as u64),
            table::bytes(idle as u64),
        ]);
    }
    table
}

fn latencies(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new(
        2,
        ["", "", "", "p50", "", "p99"],
        ["answer", "called with", "p50", "÷ SDK", "p99", "÷ SDK"],
    );
    let mut length = None;
    for outcome in outcomes.iter().filter(|outcome| !outcome.latency.is_empty()) {
        let case = outcome.case;
        if length.replace(case.length) != Some(case.length) {
            table.rule();
        }
        let sdk = find(outcomes, case.length, Caller::Sdk);
        let [p50, p99] = percentiles(outcome);
        let [sdk_p50, sdk_p99] = sdk.map_or([f64::NAN; 2], percentiles);
        table.row([
            table::bytes(case.length),
            case.caller.name().to_owned(),
            time(p50),
            table::times(p50 / sdk_p50),
            time(p99),
            table::times(p99 / sdk_p99),
        ]);
    }
    table
}

fn percentiles(outcome: &Outcome) -> [f64; 2] {
    let rounds = || outcome.latency.iter();
    [median(rounds().map(|round| round.p50)), median(rounds().map(|round| round.p99))]
}

fn bars(outcomes: &[Outcome]) -> Bars {
    let mut bars = Bars::default();
    let cpu = |length| cpu_ratio(outcomes, length, Caller::Presized);
    bars.at_most("CPU ÷ aws-sdk-lambda, 1 KiB", cpu(KIB), 0.25);
    bars.at_most("CPU ÷ aws-sdk-lambda, 6 MiB", cpu(SIX_MIB), 0.35);
    let allocated = allocated_ratio(outcomes, SIX_MIB, Caller::Presized);
    bars.at_most("bytes allocated ÷ aws-sdk-lambda, 6 MiB", allocated, 0.36);
    let faults = find(outcomes, SIX_MIB, Caller::Pool).map_or(&[][..], |one| &one.faults);
    let value = median(faults.iter().copied());
    bars.exactly("page faults of a call, 6 MiB, warm pool", value, 0.0);
    let value = faults.iter().sum::<f64>() / faults.len() as f64;
    bars.beside("the same, mean of all rounds instead of the median", value);
    let pooled = cpu_ratio(outcomes, SIX_MIB, Caller::Pool);
    bars.beside("CPU ÷ aws-sdk-lambda, 6 MiB, warm pool", pooled);
    bars
}

/// The median over the rounds of what `caller` took beside the SDK in the same round.
fn cpu_ratio(outcomes: &[Outcome], length: u64, caller: Caller) -> f64 {
    let cpu = |caller| find(outcomes, length, caller).map_or(&[][..], |one| &one.cpu);
    median(cpu(caller).iter().zip(cpu(Caller::Sdk)).map(|(caller, sdk)| caller / sdk))
}

fn allocated_ratio(outcomes: &[Outcome], length: u64, caller: Caller) -> f64 {
    let of = |caller| {
        find(outcomes, length, caller).map_or(f64::NAN, |outcome| outcome.memory.allocated)
    };
    of(caller) / of(Caller::Sdk)
}

fn find(outcomes: &[Outcome], length: u64, caller: Caller) -> Option<&Outcome> {
    let mut outcomes = outcomes.iter();
    outcomes.find(|Outcome { case, .. }| case.length == length && case.caller == caller)
}

fn time(seconds: f64) -> String {
    table::time(Duration::from_secs_f64(seconds))
}
