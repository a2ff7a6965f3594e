//! The figures, and the bars.

use std::time::Duration;

use presized_support::bars::Bars;
use presized_support::table::{self, Table, median};

use crate::Outcome;
use crate::case::{Cell, KIB, MIB, Party, SIX_MIB, Threads, Work};

pub(crate) fn print_figures(outcomes: &[Outcome]) {
    println!("{}", figures(outcomes));
    println!("{NOTES}\n");
}

pub(crate) fn print_bars(outcomes: &[Outcome]) {
    println!("{}", bars(outcomes));
}

const NOTES: &str = "\
p50 and p99 are from a call to its answer, and have the emulator and the caller in them. CPU time
is that of the process of the function, per invocation: the median over rounds in which the
parties take turns, and the ratio to lambda_runtime is the median of the ratios within a round.
Page faults are medians too, and what is allocated is a mean. Peak is the most that was resident.
1* is one worker in a current-thread runtime; all others have what #[tokio::main] makes.";

fn figures(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new(
        3,
        ["", "wor-", "", "", "", "CPU", "CPU", "page", "", "allocated", "", "peak"],
        [
            "", "kers", "", "p50", "p99", "per call", "÷ peer", "faults", "allocs", "per call",
            "peak", "÷ peer",
        ],
    );
    let mut cell = None;
    for outcome in outcomes {
        let case = outcome.case;
        if cell.replace(case.cell) != Some(case.cell) {
            table.rule();
        }
        let [p50, p99] = percentiles(outcome);
        let faults = median(outcome.batches.iter().map(|batch| batch.faults));
        table.row([
            case.cell.work.to_string(),
            case.cell.workers(),
            case.party.name().to_owned(),
            time(p50),
            time(p99),
            time(median(outcome.batches.iter().map(|batch| batch.cpu))),
            table::times(cpu_ratio(outcomes, case.cell, case.party)),
            format!("{faults:.1}"),
            format!("{:.0}", outcome.allocated.blocks),
            table::bytes(outcome.allocated.bytes as u64),
            table::bytes(outcome.peak as u64),
            table::times(peak_ratio(outcomes, case.cell, case.party)),
        ]);
    }
    table
}

fn bars(outcomes: &[Outcome]) -> Bars {
    let mut bars = Bars::default();
    let mut with_bar = Vec::new();
    for threads in [Threads::Many, Threads::One] {
        for (work, party, bar) in ONE_WORKER {
            let cell = Cell { work, workers: 1, threads };
            let figure = format!("CPU ÷ lambda_runtime, {}, {}", cell.name(), party.name());
            bars.at_most(figure, cpu_ratio(outcomes, cell, party), bar);
            with_bar.push((cell, party));
        }
    }
    let others = outcomes.iter().map(|outcome| (outcome.case.cell, outcome.case.party));
    let others = others.filter(|other| other.1 != Party::Peer && !with_bar.contains(other));
    let most = others.map(|(cell, party)| cpu_ratio(outcomes, cell, party));
    bars.at_most("CPU ÷ lambda_runtime, the most of all others", max(most), 1.0);

    let full = Cell { work: Work::Answer(SIX_MIB), workers: 32, threads: Threads::Many };
    for party in [Party::Raw, Party::Json] {
        let peak = find(outcomes, full, party).map_or(f64::NAN, |outcome| outcome.peak);
        let figure = format!("peak MiB resident, 32, answer 6 MiB, {}", party.name());
        bars.at_most(figure, peak / MIB as f64, 1.2 * 192.0 + 16.0);
    }
    let ours = outcomes.iter().filter(|outcome| outcome.case.party != Party::Peer);
    let most = ours.map(|outcome| peak_ratio(outcomes, outcome.case.cell, outcome.case.party));
    bars.at_most("peak ÷ lambda_runtime, the most of all", max(most), 1.0);
    bars
}

/// What each has to reach with one worker.
const ONE_WORKER: [(Work, Party, f64); 7] = [
    (Work::Answer(KIB), Party::Raw, 0.75),
    (Work::Answer(KIB), Party::Json, 0.75),
    (Work::Answer(MIB), Party::Raw, 0.25),
    (Work::Answer(MIB), Party::Json, 0.6),
    (Work::Answer(SIX_MIB), Party::Raw, 0.25),
    (Work::Answer(SIX_MIB), Party::Json, 0.6),
    (Work::Event(SIX_MIB), Party::Raw, 0.4),
];

fn percentiles(outcome: &Outcome) -> [f64; 2] {
    let batches = outcome.batches.iter();
    let mut times: Vec<f64> = batches.flat_map(|batch| batch.times.iter().copied()).collect();
    times.sort_unstable_by(f64::total_cmp);
    [50, 99].map(|percent| times[(times.len() - 1) * percent / 100])
}

/// The median over the rounds of what `party` took beside lambda_runtime in the same round.
fn cpu_ratio(outcomes: &[Outcome], cell: Cell, party: Party) -> f64 {
    let batches = |party| find(outcomes, cell, party).map_or(&[][..], |one| &one.batches);
    median(batches(party).iter().zip(batches(Party::Peer)).map(|(one, peer)| one.cpu / peer.cpu))
}

fn peak_ratio(outcomes: &[Outcome], cell: Cell, party: Party) -> f64 {
    let peak = |party| find(outcomes, cell, party).map_or(f64::NAN, |one| one.peak);
    peak(party) / peak(Party::Peer)
}

fn find(outcomes: &[Outcome], cell: Cell, party: Party) -> Option<&Outcome> {
    outcomes.iter().find(|one| one.case.cell == cell && one.case.party == party)
}

fn max(figures: impl Iterator<Item = f64>) -> f64 {
    figures.fold(f64::NAN, f64::max)
}

fn time(seconds: f64) -> String {
    table::time(Duration::from_secs_f64(seconds))
}
