//! The tables, bars and records of a run.

use std::time::Duration;

use presized_allocators::case::{Source, Way};
use presized_benches::markdown::{Markdown, ratio, several};
use presized_benches::record::{Rows, figure};
use presized_support::bars::Bars;
use presized_support::table::{self, Table, median};

use crate::{ALLOCATORS, Allocator, FRAMES, MIB, Outcome, Row, lengths};

impl Row {
    /// Returns the median over the rounds of the CPU time of `way` ÷ that of `collect()` in the
    /// same round.
    fn cpu_ratio(&self, way: Way) -> f64 {
        let cpu = |way| self.find(way).map_or(&[][..], |one| &one.cpu);
        median(cpu(way).iter().zip(cpu(Way::Collect)).map(|(way, peer)| way / peer))
    }

    fn resident_ratio(&self, way: Way) -> f64 {
        self.find(way).map_or(f64::NAN, |one| one.resident / self.body.length as f64)
    }

    fn find(&self, way: Way) -> Option<&Outcome> {
        self.outcomes.iter().find(|one| one.way == way)
    }
}

pub(crate) fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(
        5,
        ["", "", "", "", "", "CPU", "CPU ÷", "page", "resident"],
        [
            "allocator",
            "source",
            "body",
            "frames",
            "read with",
            "per body",
            "collect()",
            "faults",
            "÷ body",
        ],
    );
    for row in rows {
        table.rule();
        for one in &row.outcomes {
            table.row([
                row.allocator.name.to_owned(),
                row.body.source.name().to_owned(),
                format!("{} MiB", row.body.length as f64 / MIB as f64),
                table::bytes(row.body.frame as u64),
                one.way.name().to_owned(),
                table::time(Duration::from_secs_f64(median(one.cpu.iter().copied()))),
                table::times(row.cpu_ratio(one.way)),
                format!("{:.0}", median(one.faults.iter().copied())),
                table::times(row.resident_ratio(one.way)),
            ]);
        }
    }
    table
}

/// Returns the figures for a CSV file.
pub(crate) fn rows(rows: &[Row]) -> Rows {
    let mut all = Rows::new([
        "allocator",
        "source",
        "body_bytes",
        "frame_bytes",
        "read_with",
        "cpu_us",
        "cpu_ratio_to_collect",
        "page_faults",
        "resident_bytes",
    ]);
    for row in rows {
        for one in &row.outcomes {
            all.push([
                row.allocator.name.to_owned(),
                row.body.source.name().to_owned(),
                row.body.length.to_string(),
                row.body.frame.to_string(),
                one.way.name().to_owned(),
                figure(median(one.cpu.iter().copied()) * 1e6),
                figure(row.cpu_ratio(one.way)),
                figure(median(one.faults.iter().copied())),
                figure(one.resident),
            ]);
        }
    }
    all
}

/// Returns the bars for bodies through hyper, sent in small chunks, under glibc.
pub(crate) fn bars(rows: &[Row]) -> Bars {
    let mut bars = Bars::default();
    for allocator in &ALLOCATORS[..3] {
        for &length in lengths() {
            let is_returned = allocator.name.ends_with("returned");
            let bar = match length as f64 / MIB as f64 {
                7.5 => None,
                _ if is_returned => Some(0.70),
                6.0 => Some(1.00),
                64.0 => Some(0.60),
                _ => Some(0.95),
            };
            let body = format!("{}, {} MiB", allocator.name, length as f64 / MIB as f64);
            let figure = |figure| of_hyper(rows, *allocator, length, FRAMES[0], figure);
            let cpu = figure(&|row| row.cpu_ratio(Way::Presized));
            let name = format!("CPU ÷ collect().to_bytes(), {body}");
            match bar {
                Some(bar) => bars.at_most(name, cpu, bar),
                None => bars.beside(name, cpu),
            }
            // The buffers of hyper are most of a small body.
            if length >= 6 * MIB {
                let resident = figure(&|row| row.resident_ratio(Way::Presized));
                bars.at_most(format!("resident ÷ body, {body}"), resident, 1.5);
            }
        }
    }
    bars
}

/// Returns the table of BENCHMARKS.md: bodies through hyper, all lengths in one cell.
pub(crate) fn markdown(rows: &[Row]) -> Markdown {
    let header: Vec<_> = ["1 / 6 / 7 / 7.5 / 64 MiB"]
        .into_iter()
        .chain(ALLOCATORS.map(|allocator| allocator.name))
        .collect();
    let header: [&str; 1 + ALLOCATORS.len()] = header.try_into().expect("one for each allocator");
    let mut table = Markdown::new(header);
    let mut line = |name: &str, frame: usize, figure: &dyn Fn(&Row) -> f64| {
        let cells = ALLOCATORS.map(|allocator| {
            let of_length = |&length: &u64| of_hyper(rows, allocator, length, frame, figure);
            several(lengths().iter().map(of_length), ratio)
        });
        let [a, b, c, d, e] = cells;
        table.row([name.to_owned(), a, b, c, d, e]);
    };
    line("CPU ÷ `collect()`, chunks of 16 KiB", FRAMES[0], &|row| row.cpu_ratio(Way::Presized));
    line("the same, chunks of 256 KiB", FRAMES[1], &|row| row.cpu_ratio(Way::Presized));
    line("resident ÷ body: `collect()`", FRAMES[0], &|row| row.resident_ratio(Way::Collect));
    line("the same: presized", FRAMES[0], &|row| row.resident_ratio(Way::Presized));
    table
}

/// Returns a figure of a body through hyper. It is NaN if a trial run has left the body out.
fn of_hyper(
    rows: &[Row],
    allocator: Allocator,
    length: u64,
    frame: usize,
    figure: &dyn Fn(&Row) -> f64,
) -> f64 {
    let row = rows.iter().find(|row| {
        row.allocator.name == allocator.name
            && row.body.source == Source::Hyper
            && row.body.length == length
            && row.body.frame == frame
    });
    row.map_or(f64::NAN, figure)
}
