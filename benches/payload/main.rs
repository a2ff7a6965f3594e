//! Whole calls of a generated client: the request, the head, the payload and the output.
//!
//! The AWS SDK for Go measures large payloads with the same two operations: GetBucketPolicy, whose
//! output is text, and GetCodeBindingSource, whose output is a blob. The transport is in memory.
//! Prints one table and the bars, then the times of criterion. The content of each output is
//! checked. The process measures in the allocator state in which it is started.

mod call;

use std::convert::Infallible;
use std::future::ready;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput};
use generated_client::Transport;
use http::Request;
use presized_benches::chart::{Chart, Color, Panel};
use presized_benches::markdown::{Markdown, ratio};
use presized_benches::record::{self, Rows, figure};
use presized_benches::{allocator, turns};
use presized_support::bars::{Bars, is_trial};
use presized_support::ledger::{Ledger, Spent};
use presized_support::meter::thread_cpu;
use presized_support::table::{self, Table, median};

use crate::call::{BLOB, Clients, LENGTH, OPERATIONS, Operation, TEXT, WAYS, Way, respond};

#[global_allocator]
static LEDGER: Ledger = Ledger;

/// The measurements of one way to call one operation.
struct Cell {
    operation: Operation,
    way: Way,
    spent: Spent,
    /// Seconds of CPU time, in each round.
    cpu: Vec<f64>,
}

fn main() {
    LazyLock::force(&TEXT);
    LazyLock::force(&BLOB);
    let clients =
        Clients::new(|request: Request<Bytes>| ready(Ok::<_, Infallible>(respond(&request))));
    let rounds = if is_trial() { 1 } else { 41 };
    let cells = measure(&clients, rounds);
    println!("{}", figures(&cells));
    println!("{NOTES}\n");
    println!("{}", bars(&cells));
    let name = format!("payload-{}", allocator::current().name);
    record::rows(&name, &rows(&cells)).expect("the record can be written");
    record::chart(&name, &chart(&cells)).expect("the record can be written");
    if allocator::current() == allocator::DEFAULT {
        record::table("payload", &markdown(&cells)).expect("the record can be written");
    }

    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .configure_from_args();
    times(&mut criterion, &clients);
    criterion.final_summary();
}

const NOTES: &str = "\
One call each, from the input to the output, and the release of the output. Times are CPU time,
medians over rounds in which all ways take turns. A ratio is the median of the ratios within a
round. Bytes and allocations are counted in a separate pass. The frames are slices of one block,
so that collect() keeps them at no cost; a transport would allocate them.";

/// Counts allocations in one pass, and measures times in others, in which the ways take turns.
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
        for index in turns::order(round, cells.len()) {
            let cell = &mut cells[index];
            cell.cpu.push(clock(clients, cell.operation, cell.way));
        }
    }
    cells
}

/// Returns seconds of CPU time for one call. The release of its output is included and the check is
/// not.
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
    found.expect("each way that applies is measured")
}

/// Returns the median of the ratios of CPU time within a round.
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
            "÷ bound",
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
            beside(Way::Bound),
        ]);
    }
    table
}

/// Returns the figures for a CSV file.
fn rows(cells: &[Cell]) -> Rows {
    let columns = ["operation", "read_with", "cpu_us", "allocated_bytes", "allocations"];
    let mut rows = Rows::new(columns);
    for cell in cells {
        rows.push([
            format!("{:?}", cell.operation),
            cell.way.name().to_owned(),
            figure(median(cell.cpu.iter().copied()) * 1e6),
            cell.spent.bytes.to_string(),
            cell.spent.allocations.to_string(),
        ]);
    }
    rows
}

/// Returns the table of BENCHMARKS.md.
fn markdown(cells: &[Cell]) -> Markdown {
    let mut table = Markdown::new([
        "read with",
        "bytes allocated ÷ payload: text, blob",
        "allocations",
        "CPU ÷ `collect()` and a copy",
    ]);
    for way in WAYS {
        let pair = |figure: &dyn Fn(&Cell) -> String| {
            let of_way = cells.iter().filter(|cell| cell.way == way).map(figure);
            of_way.collect::<Vec<_>>().join(", ")
        };
        table.row([
            way.name().to_owned(),
            pair(&|cell| ratio(cell.spent.bytes as f64 / LENGTH as f64)),
            pair(&|cell| cell.spent.allocations.to_string()),
            pair(&|one| ratio(cpu_ratio(one, cell(cells, one.operation, Way::Collect)))),
        ]);
    }
    table
}

fn chart(cells: &[Cell]) -> Chart {
    let of = |operation, way| cells.iter().find(|one| (one.operation, one.way) == (operation, way));
    let operation = Operation::GetCodeBindingSource;
    let presized = cell(cells, operation, Way::Presized);
    let title = format!(
        "Generated client: presized takes {} the CPU time of collect().to_bytes() and a copy",
        table::times(cpu_ratio(presized, cell(cells, operation, Way::Collect))),
    );
    let note = format!(
        "A payload of 12 MiB from memory, medians; allocator state: {}. Text is validated as UTF-8.",
        allocator::current().name
    );
    let values = |figure: &dyn Fn(&Cell) -> f64| {
        let of_operation = |operation| {
            let figure = |way| of(operation, way).map_or(f64::NAN, figure);
            WAYS.map(figure).into()
        };
        OPERATIONS.map(of_operation)
    };
    let bytes = values(&|cell| cell.spent.bytes as f64 / LENGTH as f64);
    let time = values(&|cell| median(cell.cpu.iter().copied()) * 1e3);
    let chart = WAYS.iter().fold(Chart::new(title, note), |chart, &way| {
        let color = match way {
            Way::Bound => Color::LightGrey,
            Way::Presized => Color::Blue,
            Way::Pooled => Color::Green,
            Way::Collect => Color::Grey,
            Way::Growing => Color::Purple,
            Way::ReadAll => Color::Orange,
        };
        chart.series(way.name(), color)
    });
    chart
        .groups(["text".to_owned(), "blob".to_owned()])
        .panel(Panel::new("bytes allocated", "÷ payload", bytes).reference(1.0))
        .panel(
            Panel::new("CPU time", "ms for each call", time)
                .labelled(|value| format!("{value:.2} ms")),
        )
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
        for way in [Way::ReadAll, Way::Growing, Way::Collect, Way::Bound] {
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
        let ways = [Way::Bound, Way::Presized, Way::Pooled, Way::Collect, Way::ReadAll];
        for way in ways.into_iter().filter(|way| way.applies_to(operation)) {
            let id = BenchmarkId::new(format!("{operation:?}"), way.name());
            clients.call(operation, way).check(operation);
            group.bench_function(id, |bencher| bencher.iter(|| clients.call(operation, way)));
        }
    }
    group.finish();
}
