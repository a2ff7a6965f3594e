//! The figures of one state of the allocator, and the bars.

use std::time::Duration;

use presized_peers::allocator::Allocator;
use presized_support::bars::Bars;
use presized_support::table::{self, Table, median};

use crate::case::{KIB, Reader, SIX_MIB};
use crate::{Memory, Outcome};

pub(crate) fn print(allocator: Allocator, outcomes: &[Outcome]) {
    println!("Allocator: {}\n", allocator.name);
    println!("{}", figures(outcomes));
    println!("{NOTES}\n");
    println!("{}", bars(outcomes));
}

const NOTES: &str = "\
CPU time of the client thread and page faults are medians over rounds in which the clients
take turns, and the ratio to the client as it is is the median of the ratios within a round.
Bytes allocated are means. Peak is the most memory alive, that of the client itself included,
which is what is alive between two calls; resident is the most that the process had in memory,
above what it had before the client. The output of every call is a copy of its own.";

fn figures(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new(
        2,
        ["", "", "CPU", "CPU", "page", "allocated", "allocated", "", "between", ""],
        [
            "answer",
            "read by",
            "per call",
            "÷ plain",
            "faults",
            "per call",
            "÷ answer",
            "peak",
            "calls",
            "resident",
        ],
    );
    let mut length = None;
    for outcome in outcomes {
        let case = outcome.case;
        if length.replace(case.length) != Some(case.length) {
            table.rule();
        }
        let Memory { allocated, peak, idle, resident } = outcome.memory;
        table.row([
            table::bytes(case.length),
            case.reader.name().to_owned(),
            table::time(Duration::from_secs_f64(median(outcome.cpu.iter().copied()))),
            table::times(cpu_ratio(outcomes, case.length, case.reader)),
            format!("{:.0}", median(outcome.faults.iter().copied())),
            table::bytes(allocated as u64),
            table::times(allocated / case.length as f64),
            table::bytes(peak as u64),
            table::bytes(idle as u64),
            table::bytes(resident as u64),
        ]);
    }
    table
}

fn bars(outcomes: &[Outcome]) -> Bars {
    let mut bars = Bars::default();
    let allocated = |reader| {
        let memory = find(outcomes, SIX_MIB, reader).map(|outcome| outcome.memory);
        memory.map_or(f64::NAN, |memory| memory.allocated / SIX_MIB as f64)
    };
    // The buffer and the output, or the output alone; and hyper's read buffer of 408 KiB, which
    // it replaces twice in the course of a call.
    bars.at_most("bytes allocated ÷ 6 MiB", allocated(Reader::Interceptor), 2.2);
    bars.at_most("bytes allocated ÷ 6 MiB, warm pool", allocated(Reader::Pool), 1.2);
    bars.beside("the same without the interceptor", allocated(Reader::Plain));
    let cpu = |length, reader| cpu_ratio(outcomes, length, reader);
    bars.at_most("CPU ÷ plain, 6 MiB", cpu(SIX_MIB, Reader::Interceptor), 1.0);
    bars.at_most("CPU ÷ plain, 6 MiB, warm pool", cpu(SIX_MIB, Reader::Pool), 1.0);
    bars.beside("CPU ÷ plain, 1 KiB", cpu(KIB, Reader::Interceptor));
    bars
}

/// The median over the rounds of what `reader` took beside the plain client in the same round.
fn cpu_ratio(outcomes: &[Outcome], length: u64, reader: Reader) -> f64 {
    let cpu = |reader| find(outcomes, length, reader).map_or(&[][..], |one| &one.cpu);
    median(cpu(reader).iter().zip(cpu(Reader::Plain)).map(|(reader, plain)| reader / plain))
}

fn find(outcomes: &[Outcome], length: u64, reader: Reader) -> Option<&Outcome> {
    let mut outcomes = outcomes.iter();
    outcomes.find(|Outcome { case, .. }| case.length == length && case.reader == reader)
}
