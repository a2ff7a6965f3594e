//! The tables, bars and records of a run.

use std::time::Duration;

use presized_benches::allocator::{KEPT, RETURNED};
use presized_benches::record::{Rows, figure};
use presized_support::bars::Bars;
use presized_support::table::{self, Table, median};

use crate::case::{KIB, MIB, SIX_MIB, Transport, Way};
use crate::memory::Memory;
use crate::outcome::Outcomes;

pub(crate) fn print(outcomes: &Outcomes) {
    println!("Allocator: {}\n", outcomes.allocator.name);
    println!("{}", figures(outcomes));
    println!("{NOTES}\n");
    println!("CPU time ÷ collect().to_bytes(), without and with a warm pool:\n");
    println!("{}", transports(outcomes));
    println!("Bars, over HTTP/1.1, with Content-Length unless the line says chunked:\n");
    println!("{}", bars(outcomes));
}

const NOTES: &str = "\
CPU time of the client thread and page faults are medians over rounds in which all clients take
turns. The peer is collect().to_bytes(), or bytes() of reqwest. The ratio to the peer is the
median of the ratios within a round. Large allocations (4 KiB and more) and bytes allocated are
means, those of hyper included. Peak is the most memory alive, above the memory before the
connection. Resident is the growth of the process at its first body. Kept is alive after the
connection is closed: the content, and idle buffers of a pool.";

fn figures(outcomes: &Outcomes) -> Table {
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
    for outcome in &outcomes.all {
        let case = outcome.case;
        if group.replace((case.transport, case.length)) != Some((case.transport, case.length)) {
            table.rule();
        }
        let of_body = |figure| table::times(outcome.of_body(figure));
        // For a small body, the pages of the program itself are most of it.
        let is_small = case.length < MIB;
        let resident = if is_small { String::new() } else { of_body(|memory| memory.resident) };
        let ratio = outcomes.cpu_ratio(case.transport, case.length, case.way, case.way.peer());
        table.row([
            case.transport.name().to_owned(),
            table::bytes(case.length),
            case.way.name().to_owned(),
            table::time(Duration::from_secs_f64(median(outcome.cpu.iter().copied()))),
            table::times(ratio),
            format!("{:.0}", median(outcome.faults.iter().copied())),
            format!("{:.1}", outcome.memory.large),
            of_body(|memory| memory.allocated),
            of_body(|memory| memory.peak),
            resident,
            of_body(|memory| memory.kept),
        ]);
    }
    table
}

/// Plaintext and TLS, declared and chunked, next to each other.
fn transports(outcomes: &Outcomes) -> Table {
    let mut table = Table::new(
        1,
        ["", "declared", "", "chunked", "", "TLS, decl.", "", "TLS, chunked", ""],
        ["body", "", "pool", "", "pool", "", "pool", "", "pool"],
    );
    table.rule();
    for length in [KIB, MIB, SIX_MIB, 64 * MIB] {
        let ratio = |transport, way| {
            let ratio = outcomes.cpu_ratio(transport, length, way, Way::Collect);
            if ratio.is_nan() { String::new() } else { table::times(ratio) }
        };
        let [declared, chunked] = [Transport::Http1, Transport::Chunked];
        let [tls, tls_chunked] = [Transport::Tls, Transport::TlsChunked];
        table.row([
            table::bytes(length),
            ratio(declared, Way::Presized),
            ratio(declared, Way::Pool),
            ratio(chunked, Way::Presized),
            ratio(chunked, Way::Pool),
            ratio(tls, Way::Presized),
            ratio(tls, Way::Pool),
            ratio(tls_chunked, Way::Presized),
            ratio(tls_chunked, Way::Pool),
        ]);
    }
    table
}

/// Returns the figures of all states for a CSV file.
pub(crate) fn rows(states: &[Outcomes]) -> Rows {
    let mut rows = Rows::new([
        "allocator",
        "transport",
        "body_bytes",
        "read_with",
        "cpu_us",
        "cpu_ratio_to_peer",
        "page_faults",
        "large_allocations",
        "allocated_bytes",
        "peak_bytes",
        "resident_bytes",
        "kept_bytes",
    ]);
    for outcomes in states {
        for outcome in &outcomes.all {
            let case = outcome.case;
            let ratio = outcomes.cpu_ratio(case.transport, case.length, case.way, case.way.peer());
            let Memory { large, allocated, peak, resident, kept } = outcome.memory;
            rows.push([
                outcomes.allocator.name.to_owned(),
                case.transport.name().to_owned(),
                case.length.to_string(),
                case.way.name().to_owned(),
                figure(median(outcome.cpu.iter().copied()) * 1e6),
                figure(ratio),
                figure(median(outcome.faults.iter().copied())),
                figure(large),
                figure(allocated),
                figure(peak),
                figure(resident),
                figure(kept),
            ]);
        }
    }
    rows
}

/// The bars of one state, or of each.
fn bars(outcomes: &Outcomes) -> Bars {
    let mut bars = Bars::default();
    let (known, chunked) = (Transport::Http1, Transport::Chunked);
    let (six, large) = (SIX_MIB, 64 * MIB);
    let allocated: fn(&Memory) -> f64 = |memory| memory.allocated;
    let peak: fn(&Memory) -> f64 = |memory| memory.peak;
    let of_memory: [(&str, _, _, _, _); 6] = [
        ("bytes allocated ÷ body, 6 MiB", six, Way::Presized, allocated, 1.10),
        ("bytes allocated ÷ body, 64 MiB", large, Way::Presized, allocated, 1.10),
        ("bytes allocated ÷ body, 64 MiB, eager(64 MiB)", large, Way::Eager, allocated, 1.10),
        ("peak ÷ body, 6 MiB", six, Way::Presized, peak, 1.20),
        ("peak ÷ body, 64 MiB", large, Way::Presized, peak, 1.30),
        ("peak ÷ body, 64 MiB, eager(64 MiB)", large, Way::Eager, peak, 1.05),
    ];
    for (name, length, way, figure, bar) in of_memory {
        bars.at_most(name, outcomes.memory(known, length, way, figure), bar);
    }
    for length in [six, large] {
        let body = table::bytes(length);
        // The buffer grows by reallocation, which the counted peak counts twice.
        let value = outcomes.memory(chunked, length, Way::Presized, |memory| memory.resident);
        bars.at_most(format!("resident ÷ body, {body}, chunked"), value, 1.25);
        let value = outcomes.memory(chunked, length, Way::Presized, |memory| memory.kept);
        bars.at_most(format!("kept ÷ body, {body}, chunked"), value, 4.0);
    }
    for length in [KIB, 64 * KIB, MIB, six, large] {
        let ratio = outcomes.cpu_ratio(known, length, Way::Presized, Way::Collect);
        let name = format!("CPU ÷ collect().to_bytes(), {}", table::bytes(length));
        bound(&mut bars, name, ratio, cpu_bar(outcomes, length));
    }
    let pool_bar = match outcomes.allocator {
        KEPT => Some(0.80),
        RETURNED => Some(0.25),
        _ => None,
    };
    for length in [six, large] {
        let body = table::bytes(length);
        let value = outcomes.memory(known, length, Way::Pool, allocated);
        bars.at_most(format!("bytes allocated ÷ body, {body}, warm pool"), value, 0.10);
        let ratio = outcomes.cpu_ratio(known, length, Way::Pool, Way::Collect);
        let name = format!("CPU ÷ collect().to_bytes(), {body}, warm pool");
        bound(&mut bars, name, ratio, pool_bar);
        let value = outcomes.memory(chunked, length, Way::History, peak);
        bars.at_most(format!("peak ÷ body, {body}, chunked, settled history"), value, 1.25);
    }
    for length in [MIB, six, large] {
        let body = table::bytes(length);
        let ratio = outcomes.cpu_ratio(known, length, Way::Pool, Way::ReadInto);
        bars.at_most(format!("CPU ÷ read(2) into one buffer, {body}, warm pool"), ratio, 1.30);
        let faults = outcomes.faults(known, length, Way::Pool);
        bars.beside(format!("page faults, {body}, warm pool, those of hyper included"), faults);
        // The rest of the distance to the lower bound, if memory costs nothing.
        let ratio = outcomes.cpu_ratio(known, length, Way::AppendTo, Way::ReadInto);
        bars.beside(format!("CPU ÷ read(2), {body}, one buffer for all bodies"), ratio);
    }
    bars
}

fn bound(bars: &mut Bars, name: String, value: f64, bar: Option<f64>) {
    match bar {
        Some(bar) => bars.at_most(name, value, bar),
        None => bars.beside(name, value),
    }
}

fn cpu_bar(outcomes: &Outcomes, length: u64) -> Option<f64> {
    match (outcomes.allocator, length) {
        (KEPT, ..MIB) => Some(1.05),
        (KEPT, MIB) => Some(0.95),
        (KEPT, _) => Some(0.80),
        (RETURNED, SIX_MIB) => Some(0.60),
        _ => None,
    }
}
