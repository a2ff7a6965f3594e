//! Bodies in memory: what the loop itself costs, with no transport under it.
//!
//! Prints every figure for every size and frame, then the bars, then criterion's times
//! for a few of them. Bytes are checked wherever they are read.

use std::time::Duration;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput};
use futures_util::FutureExt;
use http_body_util::BodyExt;
use presized::{Collect, Mismatch};
use presized_support::bars::{Bars, is_trial};
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
enum Reader {
    /// One `Vec` of the right size, and a copy of every frame: the floor.
    Floor,
    Collect,
    Axum,
    /// presized, and the declared length is right.
    Known,
    /// presized, and none is declared.
    Unknown,
    /// presized, and a tenth is declared.
    Tenth,
    /// presized, and ten times as much is declared.
    Tenfold,
}

const READERS: [Reader; 7] = [
    Reader::Floor,
    Reader::Collect,
    Reader::Axum,
    Reader::Known,
    Reader::Unknown,
    Reader::Tenth,
    Reader::Tenfold,
];

impl Reader {
    fn read(self, length: u64, frame: usize) -> Bytes {
        let body = Pattern::of(length).in_frames_of(frame).of_unknown_length();
        let declared = match self {
            Reader::Floor => return floor(body, length),
            Reader::Collect => return ready(body.collect()).to_bytes(),
            Reader::Axum => {
                return ready(axum::body::to_bytes(axum::body::Body::new(body), usize::MAX));
            }
            Reader::Known => Some(length),
            Reader::Unknown => None,
            Reader::Tenth => Some(length / 10),
            Reader::Tenfold => Some(length * 10),
        };
        ready(
            Collect::new(body, Reader::new(u64::MAX).mismatch(Mismatch::Allow)).content_length(declared).bytes(),
        )
    }
}

fn floor(mut body: Pattern, length: u64) -> Bytes {
    let mut content = Vec::with_capacity(length as usize);
    while let Some(frame) = body.next_frame() {
        content.extend_from_slice(&frame);
    }
    content.into()
}

/// What a future gives that has nothing to wait for.
fn ready<T, E: std::fmt::Debug>(read: impl Future<Output = Result<T, E>>) -> T {
    read.now_or_never().expect("the body is in memory").expect("the body is right")
}

/// All that is measured of one body.
struct Cell {
    reader: Reader,
    length: u64,
    frame: usize,
    spent: Spent,
    cpu: Duration,
}

impl Cell {
    fn of_length(&self, figure: impl Fn(Spent) -> f64) -> f64 {
        figure(self.spent) / self.length as f64
    }

    /// More frames than one: a single frame can be handed over without any reading.
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

    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .configure_from_args();
    times(&mut criterion);
    criterion.final_summary();
}

/// As many as take a moment, since the large ones are slow and few readings of them differ.
fn rounds(length: u64) -> usize {
    if length < 64 * MIB { 25 } else { 7 }
}

/// Allocations are counted in one pass. Time is taken in another that does not count,
/// by each of the readers in turn.
fn measure(length: u64, frame: usize, rounds: usize) -> Vec<Cell> {
    let mut times = READERS.map(|_| Vec::new());
    for round in 0..rounds {
        for turn in 0..READERS.len() {
            // In another order every time: the caches are as the one before left them.
            let index = (turn * (1 + round % (READERS.len() - 1)) + round) % READERS.len();
            times[index].push(clock(READERS[index], length, frame));
        }
    }
    let cell = |(reader, times): (Reader, Vec<f64>)| {
        let (content, spent) = Ledger::measure(|| reader.read(length, frame));
        check(&content, length);
        let cpu = Duration::from_secs_f64(table::median(times));
        Cell { reader, length, frame, spent, cpu }
    };
    READERS.into_iter().zip(times).map(cell).collect()
}

/// Seconds of CPU time for one body, its release included and its check not.
fn clock(reader: Reader, length: u64, frame: usize) -> f64 {
    // To read the clock takes as long as to read the smallest body.
    let repeats = (2 * MIB / length).clamp(1, 500);
    let start = thread_cpu();
    for _ in 1..repeats {
        drop(std::hint::black_box(reader.read(length, frame)));
    }
    let content = reader.read(length, frame);
    let read = thread_cpu() - start;
    check(&content, length);
    let start = thread_cpu();
    drop(content);
    let released = thread_cpu() - start;
    (read + released).as_secs_f64() / repeats as f64
}

fn check(content: &[u8], length: u64) {
    assert!(pattern::is_whole(content, length), "wrong bytes in a body of {length}");
}

/// Prints one figure: a line for every size and frame, a column for every reader.
fn print(cells: &[Cell], title: &str, figure: impl Fn(&Cell) -> String) {
    let mut table = Table::new(
        2,
        ["", "", "floor:", "http-body", "axum", "presized", "presized", "declared", "declared"],
        ["body", "frames", "one Vec", "-util", "to_bytes", "known", "unknown", "÷ 10", "× 10"],
    );
    for row in cells.chunks(READERS.len()) {
        if row[0].frame == FRAMES[0] {
            table.rule();
        }
        let figures: [String; READERS.len()] = std::array::from_fn(|column| figure(&row[column]));
        let [a, b, c, d, e, f, g] = figures;
        table.row([name(row[0].length), table::bytes(row[0].frame as u64), a, b, c, d, e, f, g]);
    }
    println!("{title}\n\n{table}");
}

fn name(length: u64) -> String {
    if length == 12 * MIB - 3000 { "12 MiB − 3000 B".to_owned() } else { table::bytes(length) }
}

fn bars(cells: &[Cell]) -> Bars {
    let most = |reader, figure: &dyn Fn(&Cell) -> f64| {
        let cells = cells.iter().filter(|cell| cell.reader == reader && cell.has_frames());
        cells.map(figure).fold(f64::NAN, f64::max)
    };
    let mut bars = Bars::default();
    let pages = [1, 4 * KIB, 8 * KIB, 64 * KIB, MIB, 6 * MIB, 12 * MIB - 3000, 12 * MIB, 16 * MIB];
    let allocations = pages.map(|length| {
        let frame = (length as usize).div_ceil(3).min(8 << 10);
        let (content, spent) = Ledger::measure(|| Reader::Known.read(length, frame));
        check(&content, length);
        spent.allocations as f64
    });
    let title = "allocations, length known, 1 B to 16 MiB";
    bars.exactly(format!("{title}: fewest"), allocations.into_iter().fold(f64::NAN, f64::min), 1.0);
    bars.exactly(format!("{title}: most"), allocations.into_iter().fold(f64::NAN, f64::max), 1.0);
    let peak = |cell: &Cell| cell.of_length(|spent| spent.peak as f64);
    let kept = |cell: &Cell| cell.of_length(|spent| spent.kept as f64);
    bars.at_most("peak ÷ body, length unknown, most", most(Reader::Unknown, &peak), 2.05);
    bars.at_most("kept ÷ body, length unknown, most", most(Reader::Unknown, &kept), 1.25);
    bars.at_most("kept ÷ body, a tenth declared, most", most(Reader::Tenth, &kept), 1.25);
    bars.at_most("kept ÷ body, ten times declared, most", most(Reader::Tenfold, &kept), 1.25);
    for (beside, peer) in [("collect().to_bytes()", Reader::Collect), ("the floor", Reader::Floor)]
    {
        for row in cells.chunks(READERS.len()).filter(|row| row[0].frame == 64 << 10) {
            let cpu = |reader| {
                let cell = row.iter().find(|cell| cell.reader == reader);
                cell.map_or(f64::NAN, |cell| cell.cpu.as_secs_f64())
            };
            let body = name(row[0].length);
            bars.beside(
                format!("CPU, {body} in frames of 64 KiB: presized, known ÷ {beside}"),
                cpu(Reader::Known) / cpu(peer),
            );
        }
    }
    bars
}

fn times(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("collect");
    for (length, frame) in [(KIB, 8 << 10), (MIB, 64 << 10), (6 * MIB, 16 << 10)] {
        group.throughput(Throughput::Bytes(length));
        for reader in [Reader::Floor, Reader::Collect, Reader::Known, Reader::Unknown] {
            let id = BenchmarkId::new(format!("{reader:?}"), table::bytes(length));
            check(&reader.read(length, frame), length);
            group.bench_function(id, |bencher| bencher.iter(|| reader.read(length, frame)));
        }
    }
    group.finish();
}
