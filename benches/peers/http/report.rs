//! The table and the bar of a run.

use std::time::Duration;

use presized_benches::record::{Rows, figure};
use presized_support::bars::Bars;
use presized_support::table::{self, Table, median};

use crate::event::Source;
use crate::{KIB, Outcome, Party};

pub(crate) fn print(outcomes: &[Outcome]) {
    let mut table =
        Table::new(2, ["", "", "CPU", "CPU"], ["event", "adapter", "per request", "÷ lambda_http"]);
    let mut bars = Bars::default();
    for outcome in outcomes {
        table.rule();
        for (party, cpu) in Party::ALL.into_iter().zip(&outcome.cpu) {
            let ratio = if party == Party::Peer { 1.0 } else { ratio(outcome) };
            let cpu = Duration::from_secs_f64(median(cpu.iter().copied()));
            table.row([name(outcome), party.name().into(), table::time(cpu), table::times(ratio)]);
        }
        if outcome.cell.source == Source::HttpApi && outcome.cell.bytes == KIB {
            bars.at_most(format!("CPU ÷ lambda_http, {}", name(outcome)), ratio(outcome), 0.7);
        }
    }
    println!("{table}\n{NOTES}\n\n{bars}");
}

const NOTES: &str = "\
CPU time is that of the function process for each request: the median over rounds in which both
adapters take turns. The ratio is the median of the ratios within a round. Both serve the same
router of axum, which returns the body of the request. * is a current-thread runtime; the others run
in that of #[tokio::main].";

/// Returns the figures for a CSV file.
pub(crate) fn rows(outcomes: &[Outcome]) -> Rows {
    let mut rows = Rows::new(["event", "adapter", "cpu_us", "cpu_ratio_to_lambda_http"]);
    for outcome in outcomes {
        for (party, cpu) in Party::ALL.into_iter().zip(&outcome.cpu) {
            let ratio = if party == Party::Peer { 1.0 } else { ratio(outcome) };
            rows.push([
                name(outcome),
                party.name().to_owned(),
                figure(median(cpu.iter().copied()) * 1e6),
                figure(ratio),
            ]);
        }
    }
    rows
}

fn name(outcome: &Outcome) -> String {
    let cell = outcome.cell;
    let star = if cell.current_thread { "*" } else { "" };
    format!("{}, {}{star}", cell.source.name(), table::bytes(cell.bytes as u64))
}

/// Returns the median over the rounds of the CPU time ÷ that of `lambda_http` in the same round.
fn ratio(outcome: &Outcome) -> f64 {
    let [peer, ours] = &outcome.cpu;
    median(ours.iter().zip(peer).map(|(ours, peer)| ours / peer))
}
