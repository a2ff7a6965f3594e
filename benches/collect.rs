//! Bodies in memory: the cost of the read loop, without a transport.
//!
//! Prints one table for each figure, then the bars, then the times of criterion. The content of
//! each body is checked. The process measures in the allocator state in which it is started.

use std::time::Duration;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput};
use http_body_util::BodyExt;
use presized::{Collect, Mismatch, Reader};
use presized_benches::record::{self, Rows, figure};
use presized_benches::{allocator, turns};
use presized_support::bars::{Bars, is_trial};
use presized_support::drive::drive;
use presized_support::ledger::{Ledger, Spent};
use presized_support::meter::thread_cpu;
use presized_support::pattern::{self, Pattern};
use presized_support::table::{self, Table};

#[global_allocator]
static LEDGER: Ledger = Ledger;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const SIZES: [u64; 7] = [KIB, 64 * KIB, MIB, 6 * MIB, 12 * MIB - 3000, 12 * MIB, 64 * MIB];
const FRAMES: [usize; 4] = [8 << 10, 16 << 10, 64 << 10, 400 << 10];

/// A way to read a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The lower bound: one `Vec` of the right size, and a copy of each frame.
    Bound,
    Collect,
    Axum,
    /// presized with the right declared length.
    Known,
    /// presized without a declared length.
    Unknown,
    /// presized with a declared length of a tenth.
    Tenth,
    /// presized with a declared length of ten times as much.
    Tenfold,
}

const WAYS: [Way; 7] =
    [Way::Bound, Way::Collect, Way::Axum, Way::Known, Way::Unknown, Way::Tenth, Way::Tenfold];

impl Way {
    fn read(self, length: u64, frame: usize) -> Bytes {
        let body = Pattern::of(length).in_frames_of(frame).of_unknown_length();
        let declared = match self {
            Way::Bound => return bound(body, length),
            Way::Collect => return ready(body.collect()).to_bytes(),
            Way::Axum => {
                return ready(axum::body::to_bytes(axum::body::Body::new(body), usize::MAX));
            }
            Way::Known => Some(length),
            Way::Unknown => None,
            Way::Tenth => Some(length / 10),
            Way::Tenfold => Some(length * 10),
        };
        ready(
            Collect::new(body, Reader::new(u64::MAX).mismatch(Mismatch::Allow))
                .content_length(declared)
                .bytes(),
        )
    }
}

fn bound(mut body: Pattern, length: u64) -> Bytes {
    let mut content = Vec::with_capacity(length as usize);
    while let Some(frame) = body.next_frame() {
        content.extend_from_slice(&frame);
    }
    content.into()
}

/// Reads a body that is always ready. presized yields between two polls.
fn ready<T, E: std::fmt::Debug>(read: impl Future<Output = Result<T, E>>) -> T {
    drive(read).expect("the body is complete")
}

/// The measurements of one way to read one body.
struct Cell {
    way: Way,
    length: u64,
    frame: usize,
    spent: Spent,
    cpu: Duration,
}

impl Cell {
    fn of_length(&self, figure: impl Fn(Spent) -> f64) -> f64 {
        figure(self.spent) / self.length as f64
    }

    /// Returns whether there is more than one frame. A single frame is returned without a copy.
    fn has_frames(&self) -> bool {
        self.length > self.frame as u64
    }
}

fn main() {
    pattern::prepare();
    let trial = is_trial();
    let sizes: &[u64] = if trial { &[KIB, MIB] } else { &SIZES };
    let mut cells = Vec::new();
    for &length in sizes {
        for frame in FRAMES {
            cells.extend(measure(length, frame, if trial { 1 } else { rounds(length) }));
        }
    }
    print(&cells, "Allocations per body, of any size", |cell| cell.spent.allocations.to_string());
    print(&cells, "Bytes allocated ÷ body", |cell| {
        table::times(cell.of_length(|spent| spent.bytes as f64))
    });
    print(&cells, "Peak memory ÷ body, both blocks of a reallocation counted", |cell| {
        table::times(cell.of_length(|spent| spent.peak as f64))
    });
    print(&cells, "CPU time per body", |cell| table::time(cell.cpu));
    println!("{}", bars(&cells));
    let state = allocator::current().name;
    record::rows(&format!("collect-{state}"), &rows(&cells)).expect("the record can be written");

    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .configure_from_args();
    times(&mut criterion);
    criterion.final_summary();
}

/// The number of rounds. Large bodies are slow, and their times vary little.
fn rounds(length: u64) -> usize {
    if length < 64 * MIB { 25 } else { 7 }
}

/// Counts allocations in one pass, and measures times in another, in which the ways take turns.
fn measure(length: u64, frame: usize, rounds: usize) -> Vec<Cell> {
    let mut times = WAYS.map(|_| Vec::new());
    for round in 0..rounds {
        for index in turns::order(round, WAYS.len()) {
            times[index].push(clock(WAYS[index], length, frame));
        }
    }
    let cell = |(way, times): (Way, Vec<f64>)| {
        let (content, spent) = Ledger::measure(|| way.read(length, frame));
        check(&content, length);
        let cpu = Duration::from_secs_f64(table::median(times));
        Cell { way, length, frame, spent, cpu }
    };
    WAYS.into_iter().zip(times).map(cell).collect()
}

/// Returns seconds of CPU time for one body. Its release is included and its check is not.
fn clock(way: Way, length: u64, frame: usize) -> f64 {
    // Reading the clock takes as long as reading the smallest body.
    let repeats = (2 * MIB / length).clamp(1, 500);
    let start = thread_cpu();
    for _ in 1..repeats {
        drop(std::hint::black_box(way.read(length, frame)));
    }
    let content = way.read(length, frame);
    let read = thread_cpu() - start;
    check(&content, length);
    let start = thread_cpu();
    drop(content);
    let released = thread_cpu() - start;
    (read + released).as_secs_f64() / repeats as f64
}

fn check(content: &[u8], length: u64) {
    assert!(pattern::is_whole(content, length), "a body of {length} bytes has wrong content");
}

/// Prints one figure: a line for each size and frame, and a column for each way.
fn print(cells: &[Cell], title: &str, figure: impl Fn(&Cell) -> String) {
    let mut table = Table::new(
        2,
        ["", "", "bound:", "http-body", "axum", "presized", "presized", "declared", "declared"],
        ["body", "frames", "one Vec", "-util", "to_bytes", "known", "unknown", "÷ 10", "× 10"],
    );
    for row in cells.chunks(WAYS.len()) {
        if row[0].frame == FRAMES[0] {
            table.rule();
        }
        let figures: [String; WAYS.len()] = std::array::from_fn(|column| figure(&row[column]));
        let [a, b, c, d, e, f, g] = figures;
        table.row([name(row[0].length), table::bytes(row[0].frame as u64), a, b, c, d, e, f, g]);
    }
    println!("{title}\n\n{table}");
}

fn name(length: u64) -> String {
    if length == 12 * MIB - 3000 { "12 MiB − 3000 B".to_owned() } else { table::bytes(length) }
}

fn bars(cells: &[Cell]) -> Bars {
    let most = |way, figure: &dyn Fn(&Cell) -> f64| {
        let cells = cells.iter().filter(|cell| cell.way == way && cell.has_frames());
        cells.map(figure).fold(f64::NAN, f64::max)
    };
    let mut bars = Bars::default();
    let pages = [1, 4 * KIB, 8 * KIB, 64 * KIB, MIB, 6 * MIB, 12 * MIB - 3000, 12 * MIB, 16 * MIB];
    let allocations = pages.map(|length| {
        let frame = (length as usize).div_ceil(3).min(8 << 10);
        let (content, spent) = Ledger::measure(|| Way::Known.read(length, frame));
        check(&content, length);
        spent.allocations as f64
    });
    let title = "allocations, length known, 1 B to 16 MiB";
    bars.exactly(format!("{title}: fewest"), allocations.into_iter().fold(f64::NAN, f64::min), 1.0);
    bars.exactly(format!("{title}: most"), allocations.into_iter().fold(f64::NAN, f64::max), 1.0);
    let peak = |cell: &Cell| cell.of_length(|spent| spent.peak as f64);
    let kept = |cell: &Cell| cell.of_length(|spent| spent.kept as f64);
    // A reallocation counts twice. In memory, the larger buffer replaces the smaller one.
    bars.at_most("peak ÷ body, length unknown, most", most(Way::Unknown, &peak), 5.0);
    bars.at_most("kept ÷ body, length unknown, most", most(Way::Unknown, &kept), 4.0);
    bars.at_most("kept ÷ body, a tenth declared, most", most(Way::Tenth, &kept), 4.0);
    bars.at_most("kept ÷ body, ten times declared, most", most(Way::Tenfold, &kept), 4.0);
    for (beside, peer) in [("collect().to_bytes()", Way::Collect), ("the lower bound", Way::Bound)]
    {
        for row in cells.chunks(WAYS.len()).filter(|row| row[0].frame == 64 << 10) {
            let cpu = |way| {
                let cell = row.iter().find(|cell| cell.way == way);
                cell.map_or(f64::NAN, |cell| cell.cpu.as_secs_f64())
            };
            let body = name(row[0].length);
            bars.beside(
                format!("CPU, {body} in frames of 64 KiB: presized, known ÷ {beside}"),
                cpu(Way::Known) / cpu(peer),
            );
        }
    }
    bars
}

/// Returns the figures for a CSV file.
fn rows(cells: &[Cell]) -> Rows {
    let mut rows = Rows::new([
        "body_bytes",
        "frame_bytes",
        "read_with",
        "allocations",
        "allocated_bytes",
        "peak_bytes",
        "kept_bytes",
        "cpu_us",
    ]);
    for cell in cells {
        rows.push([
            cell.length.to_string(),
            cell.frame.to_string(),
            format!("{:?}", cell.way),
            cell.spent.allocations.to_string(),
            cell.spent.bytes.to_string(),
            cell.spent.peak.to_string(),
            cell.spent.kept.to_string(),
            figure(cell.cpu.as_secs_f64() * 1e6),
        ]);
    }
    rows
}

fn times(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("collect");
    for (length, frame) in [(KIB, 8 << 10), (MIB, 64 << 10), (6 * MIB, 16 << 10)] {
        group.throughput(Throughput::Bytes(length));
        for way in [Way::Bound, Way::Collect, Way::Known, Way::Unknown] {
            let id = BenchmarkId::new(format!("{way:?}"), table::bytes(length));
            check(&way.read(length, frame), length);
            group.bench_function(id, |bencher| bencher.iter(|| way.read(length, frame)));
        }
    }
    group.finish();
}
