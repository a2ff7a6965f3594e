//! The table, bars and the chart of a run.

use std::time::Duration;

use presized_benches::chart::{Chart, Color, Panel};
use presized_benches::markdown::{Markdown, ratio, several};
use presized_benches::record::{Rows, figure};
use presized_support::bars::Bars;
use presized_support::table::{self, Table, median};

use crate::Outcome;
use crate::case::{Case, Cell, KIB, MIB, Party, SIX_MIB, Threads, Work};

pub(crate) fn print_figures(outcomes: &[Outcome]) {
    println!("{}", figures(outcomes));
    println!("{NOTES}\n");
}

pub(crate) fn print_bars(outcomes: &[Outcome]) {
    println!("{}", bars(outcomes));
}

const NOTES: &str = "\
p50 and p99 are the time from a call to its response. They include the emulator and the caller.
CPU time is that of the function process for each invocation: the median over rounds in which the
parties take turns. The ratio to lambda_runtime is the median of the ratios within a round. Page
faults are medians, and bytes allocated are means. Peak is the most memory resident. 1* is one
worker in a current-thread runtime; the others run in that of #[tokio::main].";

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
    bars.at_most("CPU ÷ lambda_runtime, the largest of the other cells", max(most), 1.0);

    let full = Cell { work: Work::Respond(SIX_MIB), workers: 32, threads: Threads::Many };
    for party in [Party::Raw, Party::Json] {
        let peak = find(outcomes, full, party).map_or(f64::NAN, |outcome| outcome.peak);
        let figure = format!("peak MiB resident, 32, response 6 MiB, {}", party.name());
        bars.at_most(figure, peak / MIB as f64, 1.2 * 192.0 + 16.0);
    }
    let ours = outcomes.iter().filter(|outcome| outcome.case.party != Party::Peer);
    let most = ours.map(|outcome| peak_ratio(outcomes, outcome.case.cell, outcome.case.party));
    bars.at_most("peak ÷ lambda_runtime, the largest of all cells", max(most), 1.0);
    bars
}

/// The bars of CPU time with one worker.
const ONE_WORKER: [(Work, Party, f64); 7] = [
    (Work::Respond(KIB), Party::Raw, 0.75),
    (Work::Respond(KIB), Party::Json, 0.75),
    (Work::Respond(MIB), Party::Raw, 0.25),
    (Work::Respond(MIB), Party::Json, 0.6),
    (Work::Respond(SIX_MIB), Party::Raw, 0.25),
    (Work::Respond(SIX_MIB), Party::Json, 0.6),
    (Work::Event(SIX_MIB), Party::Raw, 0.4),
];

/// Returns the figures for a CSV file.
pub(crate) fn rows(outcomes: &[Outcome]) -> Rows {
    let mut rows = Rows::new([
        "work",
        "workers",
        "runtime",
        "p50_us",
        "p99_us",
        "cpu_us",
        "cpu_ratio_to_lambda_runtime",
        "page_faults",
        "allocations",
        "allocated_bytes",
        "peak_resident_bytes",
    ]);
    for outcome in outcomes {
        let Case { cell, party } = outcome.case;
        let [p50, p99] = percentiles(outcome);
        rows.push([
            cell.work.to_string(),
            cell.workers(),
            party.name().to_owned(),
            figure(p50 * 1e6),
            figure(p99 * 1e6),
            figure(median(outcome.batches.iter().map(|batch| batch.cpu)) * 1e6),
            figure(cpu_ratio(outcomes, cell, party)),
            figure(median(outcome.batches.iter().map(|batch| batch.faults))),
            figure(outcome.allocated.blocks),
            figure(outcome.allocated.bytes),
            figure(outcome.peak),
        ]);
    }
    rows
}

/// Returns the table of BENCHMARKS.md, with one invocation at a time and with the most.
pub(crate) fn markdown(outcomes: &[Outcome]) -> Markdown {
    let mut table = Markdown::new([
        "work, concurrent invocations",
        "CPU ÷ `lambda_runtime`: bytes / JSON",
        "peak resident, MiB: `lambda_runtime` / bytes / JSON",
    ]);
    for cell in cells(outcomes) {
        let peak =
            |party| find(outcomes, cell, party).map_or(f64::NAN, |one| one.peak / MIB as f64);
        table.row([
            cell.name(),
            several([Party::Raw, Party::Json].map(|one| cpu_ratio(outcomes, cell, one)), ratio),
            several(Party::ALL.map(peak), |mib| format!("{mib:.0}")),
        ]);
    }
    table
}

/// Returns the cells with one invocation at a time and with the most, in the runtime of
/// `#[tokio::main]`.
fn cells(outcomes: &[Outcome]) -> Vec<Cell> {
    let workers = || outcomes.iter().map(|one| one.case.cell.workers);
    let bounds = [workers().min(), workers().max()].map(Option::unwrap_or_default);
    let all = outcomes.iter().map(|one| one.case.cell);
    let mut cells: Vec<Cell> = all
        .filter(|cell| cell.threads == Threads::Many && bounds.contains(&cell.workers))
        .collect();
    cells.dedup();
    cells
}

pub(crate) fn chart(outcomes: &[Outcome]) -> Chart {
    let cells = cells(outcomes);
    let fewest = cells.iter().map(|cell| cell.workers).min().unwrap_or_default();
    let largest = cells
        .iter()
        .filter(|cell| cell.workers == fewest)
        .max_by_key(|cell| (matches!(cell.work, Work::Respond(_)), cell.work.bytes()));
    let title = largest.map_or_else(String::new, |&cell| {
        format!(
            "Runtime, {}: presized takes {} the CPU time of lambda_runtime with bytes, {} with JSON",
            cell.work,
            table::times(cpu_ratio(outcomes, cell, Party::Raw)),
            table::times(cpu_ratio(outcomes, cell, Party::Json)),
        )
    });
    let note = "Functions over loopback under the same emulator, default allocator, medians. The \
        number of concurrent invocations is after the size.";
    let values = |figure: fn(&[Outcome], Cell, Party) -> f64| {
        let of_cell = move |cell| Party::ALL.map(|party| figure(outcomes, cell, party)).into();
        cells.iter().copied().map(of_cell).collect::<Vec<Vec<f64>>>()
    };
    let peak = |outcomes: &[Outcome], cell, party| {
        find(outcomes, cell, party).map_or(f64::NAN, |one| one.peak / MIB as f64)
    };
    let colors = [Color::Grey, Color::Blue, Color::Green];
    Party::ALL
        .into_iter()
        .zip(colors)
        .fold(Chart::new(title, note), |chart, (party, color)| chart.series(party.name(), color))
        .groups(cells.iter().map(|cell| cell.name()))
        .panel(
            Panel::new("CPU time of an invocation", "÷ lambda_runtime", values(cpu_ratio))
                .reference(1.0),
        )
        .panel(
            Panel::new("peak memory of the function", "MiB resident", values(peak))
                .labelled(|value| format!("{value:.0} MiB")),
        )
}

fn percentiles(outcome: &Outcome) -> [f64; 2] {
    let batches = outcome.batches.iter();
    let mut times: Vec<f64> = batches.flat_map(|batch| batch.times.iter().copied()).collect();
    times.sort_unstable_by(f64::total_cmp);
    [50, 99].map(|percent| times[(times.len() - 1) * percent / 100])
}

/// Returns the median over the rounds of the CPU time ÷ that of lambda_runtime in the same round.
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
