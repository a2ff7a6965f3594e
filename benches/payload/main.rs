//! Whole calls of a generated client: the request, the head, the payload and the output.
//!
//! The operations are those with which the SDK of AWS for Go measures large payloads:
//! GetBucketPolicy, whose output is text, and GetCodeBindingSource, whose output is a blob. The
//! transport is in memory. Prints one table and the bars, then criterion's times. Bytes are checked
//! wherever they are read.

mod call;
#[path = "../../examples/generated_client/sdk/mod.rs"]
mod sdk;

use std::convert::Infallible;
use std::future::ready;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput};
use http::Request;
use presized_support::bars::{Bars, is_trial};
use presized_support::ledger::{Ledger, Spent};
use presized_support::meter::thread_cpu;
use presized_support::table::{self, Table, median};

use crate::call::{BLOB, Clients, LENGTH, OPERATIONS, Operation, TEXT, WAYS, Way, answer};
use crate::sdk::Transport;

#[global_allocator]
static LEDGER: Ledger = Ledger;

/// All that is measured of one way to call one operation.
struct Cell {
    operation: Operation,
    way: Way,
    spent: Spent,
    /// Seconds of each round, in the order of the rounds.
    cpu: Vec<f64>,
}

fn main() {
    LazyLock::force(&TEXT);
    LazyLock::force(&BLOB);
    let clients =
        Clients::new(|request: Request<Bytes>| ready(Ok::<_, Infallible>(answer(&request))));
    let rounds = if is_trial() { 1 } else { 41 };
    let cells = measure(&clients, rounds);
    println!("{}", figures(&cells));
    println!("{NOTES}\n");
    println!("{}", bars(&cells));

    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .configure_from_args();
    times(&mut criterion, &clients);
    criterion.final_summary();
}

const NOTES: &str = "\
One call each, from the input to the output, the output dropped. Times are CPU time, medians over
rounds in which all ways take turns, and the ratio is the median of the ratios within a round.
Bytes and allocations are counted, in a pass of their own. The frames are slices of one block,
as no transport has them: to keep them, as collect does, costs nothing here.";

/// Time is taken in passes that do not count, by each of the ways in turn.
fn measure<T: Transport + Clone>(clients: &Clients<T>, rounds: usize) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for operation in OPERATIONS {
        for way in WAYS.into_iter().filter(|way| way.applies_to(operation)) {
            // The first call warms the pool.
            clients.call(operation, way).check(operation);
            let (output, spent) = Ledger::measure(|| clients.call(operation, way));
            output.check(operation);
            cells.push(Cell { operation, way, spent, cpu: Vec::new() });
        }
    }
    for round in 0..rounds {
        for turn in 0..cells.len() {
            // In another order every time: caches and heap are as the one before left them.
            let index = (turn * (1 + round % (cells.len() - 1)) + round) % cells.len();
            let cell = &mut cells[index];
            cell.cpu.push(clock(clients, cell.operation, cell.way));
        }
    }
    cells
}

/// Seconds of CPU time for one call, the release of its output included and the check not.
fn clock<T: Transport + Clone>(clients: &Clients<T>, operation: Operation, way: Way) -> f64 {
    let start = thread_cpu();
    let output = clients.call(operation, way);
    let called = thread_cpu() - start;
    output.check(operation);
    let start = thread_cpu();
    drop(output);
    (called + (thread_cpu() - start)).as_secs_f64()
}

fn cell(cells: &[Cell], operation: Operation, way: Way) -> &Cell {
    let found = cells.iter().find(|cell| (cell.operation, cell.way) == (operation, way));
    found.expect("every way is measured that applies")
}

/// The median of the ratios of CPU time within a round.
fn cpu_ratio(cell: &Cell, peer: &Cell) -> f64 {
    median(cell.cpu.iter().zip(&peer.cpu).map(|(cpu, peer)| cpu / peer))
}

fn figures(cells: &[Cell]) -> Table {
    let mut table = Table::new(
        2,
        ["", "", "", "", "", "bytes", "CPU", "CPU"],
        [
            "operation",
            "read with",
            "ns/op",
            "B/op",
            "allocs/op",
            "÷ payload",
            "÷ collect",
            "÷ floor",
        ],
    );
    for (index, row) in cells.iter().enumerate() {
        if index == 0 || cells[index - 1].operation != row.operation {
            table.rule();
        }
        let beside = |way| table::times(cpu_ratio(row, cell(cells, row.operation, way)));
        table.row([
            format!("{:?}", row.operation),
            row.way.name().to_owned(),
            format!("{:.0}", median(row.cpu.iter().copied()) * 1e9),
            row.spent.bytes.to_string(),
            row.spent.allocations.to_string(),
            table::times(row.spent.bytes as f64 / LENGTH as f64),
            beside(Way::Collect),
            beside(Way::Floor),
        ]);
    }
    table
}

fn bars(cells: &[Cell]) -> Bars {
    let mut bars = Bars::default();
    for operation in OPERATIONS {
        let bytes = |way| cell(cells, operation, way).spent.bytes as f64;
        let presized = cell(cells, operation, Way::Presized);
        let ours = bytes(Way::Presized);
        let large = presized.spent.large as f64;
        bars.at_most(format!("{operation:?}: bytes ÷ payload"), ours / LENGTH as f64, 1.02);
        bars.exactly(format!("{operation:?}: allocations of 4 KiB and more"), large, 1.0);
        let way = Way::ReadAll;
        bars.at_most(format!("{operation:?}: bytes ÷ {}", way.name()), ours / bytes(way), 0.2);
        for way in [Way::Growing, Way::Collect] {
            bars.beside(format!("{operation:?}: bytes ÷ {}", way.name()), ours / bytes(way));
        }
        for way in [Way::ReadAll, Way::Growing, Way::Collect, Way::Floor] {
            let ratio = cpu_ratio(presized, cell(cells, operation, way));
            bars.beside(format!("{operation:?}: CPU ÷ {}", way.name()), ratio);
        }
    }
    bars
}

fn times<T: Transport + Clone>(criterion: &mut Criterion, clients: &Clients<T>) {
    let mut group = criterion.benchmark_group("payload");
    group.throughput(Throughput::Bytes(LENGTH as u64));
    for operation in OPERATIONS {
        let ways = [Way::Floor, Way::Presized, Way::Pooled, Way::Collect, Way::ReadAll];
        for way in ways.into_iter().filter(|way| way.applies_to(operation)) {
            let id = BenchmarkId::new(format!("{operation:?}"), way.name());
            clients.call(operation, way).check(operation);
            group.bench_function(id, |bencher| bencher.iter(|| clients.call(operation, way)));
        }
    }
    group.finish();
}
