//! The figures of one state of the allocator, and the bars.

use std::time::Duration;

use presized_support::bars::Bars;
use presized_support::table::{self, Table, median};

use crate::case::{KIB, MIB, Memory, Reader, SIX_MIB, Transport};
use crate::{Allocator, GIVES_BACK, KEEPS, Outcome};

pub(crate) fn print(allocator: &Allocator, outcomes: &[Outcome]) {
    println!("Allocator: {}\n", allocator.name);
    println!("{}", figures(outcomes));
    println!("{NOTES}\n");
    println!("Bars, over HTTP/1.1, with Content-Length where it is not said to be chunked:\n");
    println!("{}", bars(allocator, outcomes));
}

const NOTES: &str = "\
CPU time of the client thread and page faults are medians over rounds in which all readers
take turns. The ratio to the peer, which is collect().to_bytes() or the bytes() of reqwest,
is the median of the ratios within a round. Large allocations (4 KiB and more) and bytes
allocated are means, hyper's own included. Peak is the most memory alive since before the
connection was opened, resident the growth of the process at its first body. Kept is what
is alive after the connection is closed: the content, and what is idle in a pool.";

fn figures(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new(
        3,
        ["", "", "", "CPU", "CPU", "page", "large", "allocated", "peak", "resident", "kept"],
        [
            "transport",
            "body",
            "read with",
            "per body",
            "÷ peer",
            "faults",
            "allocs",
            "÷ body",
            "÷ body",
            "÷ body",
            "÷ body",
        ],
    );
    let mut group = None;
    for outcome in outcomes {
        let case = outcome.case;
        if group.replace((case.transport, case.length)) != Some((case.transport, case.length)) {
            table.rule();
        }
        let Memory { large, allocated, peak, resident, kept } = outcome.memory;
        let of_body = |bytes: f64| table::times(bytes / case.length as f64);
        // Of small bodies it is the pages that the code itself is in.
        let resident = if case.length < MIB { String::new() } else { of_body(resident) };
        let peer = match case.reader {
            Reader::ReqwestPresized => Reader::Reqwest,
            _ => Reader::Collect,
        };
        table.row([
            case.transport.name().to_owned(),
            table::bytes(case.length),
            case.reader.name().to_owned(),
            table::time(Duration::from_secs_f64(median(outcome.cpu.iter().copied()))),
            table::times(cpu_ratio(outcomes, case.transport, case.length, case.reader, peer)),
            format!("{:.0}", median(outcome.faults.iter().copied())),
            format!("{large:.1}"),
            of_body(allocated),
            of_body(peak),
            resident,
            of_body(kept),
        ]);
    }
    table
}

/// The bars that concern one state, or either.
fn bars(allocator: &Allocator, outcomes: &[Outcome]) -> Bars {
    let mut bars = Bars::default();
    let memory = |transport, length, reader, figure: fn(&Memory) -> f64| {
        let outcome = find(outcomes, transport, length, reader);
        outcome.map_or(f64::NAN, |outcome| figure(&outcome.memory) / length as f64)
    };
    let allocated = |memory: &Memory| memory.allocated;
    let peak = |memory: &Memory| memory.peak;
    let kept = |memory: &Memory| memory.kept;
    let (known, chunked) = (Transport::Http1, Transport::Chunked);
    let (six, large) = (SIX_MIB, 64 * MIB);
    let value = memory(known, six, Reader::Presized, allocated);
    bars.at_most("bytes allocated ÷ body, 6 MiB", value, 1.10);
    let value = memory(known, large, Reader::Presized, allocated);
    bars.at_most("bytes allocated ÷ body, 64 MiB", value, 1.10);
    let value = memory(known, large, Reader::Eager, allocated);
    bars.at_most("bytes allocated ÷ body, 64 MiB, eager(64 MiB)", value, 1.10);
    let value = memory(known, six, Reader::Presized, peak);
    bars.at_most("peak ÷ body, 6 MiB", value, 1.20);
    let value = memory(known, large, Reader::Presized, peak);
    bars.at_most("peak ÷ body, 64 MiB", value, 1.30);
    let value = memory(known, large, Reader::Eager, peak);
    bars.at_most("peak ÷ body, 64 MiB, eager(64 MiB)", value, 1.05);
    for length in [six, large] {
        let body = table::bytes(length);
        let value = memory(chunked, length, Reader::Presized, peak);
        bars.at_most(format!("peak ÷ body, {body}, chunked"), value, 2.05);
        let value = memory(chunked, length, Reader::Presized, kept);
        bars.at_most(format!("kept ÷ body, {body}, chunked"), value, 1.25);
    }
    for length in [KIB, 64 * KIB, MIB, six, large] {
        let ratio = cpu_ratio(outcomes, known, length, Reader::Presized, Reader::Collect);
        let figure =
            format!("CPU ÷ collect().to_bytes(), {}, {}", allocator.name, table::bytes(length));
        match bar(allocator, length) {
            Some(bar) => bars.at_most(figure, ratio, bar),
            None => bars.beside(figure, ratio),
        }
    }
    for length in [six, large] {
        let body = table::bytes(length);
        let value = memory(known, length, Reader::Pool, allocated);
        bars.at_most(format!("bytes allocated ÷ body, {body}, warm pool"), value, 0.10);
        let ratio = cpu_ratio(outcomes, known, length, Reader::Pool, Reader::Collect);
        let bar = if allocator.name == KEEPS.name { 0.80 } else { 0.25 };
        bars.at_most(format!("CPU ÷ collect().to_bytes(), {body}, warm pool"), ratio, bar);
        let value = memory(chunked, length, Reader::History, peak);
        bars.at_most(format!("peak ÷ body, {body}, chunked, settled history"), value, 1.25);
    }
    for length in [MIB, six, large] {
        let ratio = cpu_ratio(outcomes, known, length, Reader::Pool, Reader::ReadInto);
        let body = table::bytes(length);
        bars.at_most(format!("CPU ÷ read(2) into one buffer, {body}, warm pool"), ratio, 1.30);
        let faults = find(outcomes, known, length, Reader::Pool)
            .map_or(f64::NAN, |outcome| median(outcome.faults.iter().copied()));
        bars.beside(
            format!("page faults, {body}, warm pool, hyper's read buffer among them"),
            faults,
        );
    }
    // What memory that is reused leaves of the distance to the floor.
    for length in [MIB, SIX_MIB, large] {
        let ratio = cpu_ratio(outcomes, known, length, Reader::IntoBuf, Reader::ReadInto);
        let body = table::bytes(length);
        bars.beside(format!("CPU ÷ read(2), {body}, both into one buffer for all"), ratio);
    }
    bars
}

fn bar(allocator: &Allocator, length: u64) -> Option<f64> {
    match length {
        ..MIB if allocator.name == KEEPS.name => Some(1.05),
        MIB if allocator.name == KEEPS.name => Some(0.95),
        _ if allocator.name == KEEPS.name => Some(0.80),
        SIX_MIB if allocator.name == GIVES_BACK.name => Some(0.60),
        _ => None,
    }
}

/// The median over the rounds of what `reader` took beside `peer` in the same round.
fn cpu_ratio(
    outcomes: &[Outcome],
    transport: Transport,
    length: u64,
    reader: Reader,
    peer: Reader,
) -> f64 {
    let cpu = |reader| find(outcomes, transport, length, reader).map_or(&[][..], |one| &one.cpu);
    median(cpu(reader).iter().zip(cpu(peer)).map(|(reader, peer)| reader / peer))
}

fn find(
    outcomes: &[Outcome],
    transport: Transport,
    length: u64,
    reader: Reader,
) -> Option<&Outcome> {
    outcomes.iter().find(|Outcome { case, .. }| {
        case.transport == transport && case.length == length && case.reader == reader
    })
}
