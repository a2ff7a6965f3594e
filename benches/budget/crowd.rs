//! Measures the cost of a budget for each of many bodies in memory, read on one thread in turn.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use presized::{Collect, CollectError, ContentLength, MemoryBudget, Reader};
use presized_benches::markdown::{Markdown, ratio, several};
use presized_benches::record::{self, Rows, figure};
use presized_support::bars::{Bars, is_trial};
use presized_support::client::Error;
use presized_support::drive::{drive, poll_once};
use presized_support::meter::thread_cpu;
use presized_support::mock::{Mock, MockError, Step};
use presized_support::table::{Table, median};

/// Bodies that are alike.
struct Shape {
    name: &'static str,
    frames: usize,
    frame: usize,
    declares: bool,
    limit: u64,
    budget: u64,
}

impl Shape {
    /// Returns a body that yields to the others before each frame.
    fn body(&self) -> Mock {
        let frame = Bytes::from_static(&CONTENT[..self.frame]);
        Mock::new((0..self.frames).flat_map(|_| [Step::Wait, Step::Data(frame.clone())]))
    }

    fn len(&self) -> usize {
        self.frames * self.frame
    }
}

const SHAPES: [Shape; 3] = [
    Shape {
        name: "1,024 B declared, room for 8",
        frames: 2,
        frame: 512,
        declares: true,
        limit: 1024,
        budget: 8 << 10,
    },
    Shape {
        name: "4 × 1,000 B, limit 6 MiB, budget 16 MiB",
        frames: 4,
        frame: 1000,
        declares: false,
        limit: 6 << 20,
        budget: 16 << 20,
    },
    Shape {
        name: "8 × 16 KiB, limit 1 MiB, budget 64 MiB",
        frames: 8,
        frame: 16 << 10,
        declares: false,
        limit: 1 << 20,
        budget: 64 << 20,
    },
];

static CONTENT: [u8; 16 << 10] = [b'x'; 16 << 10];

type Outcome = Result<Bytes, CollectError<MockError>>;
type Read = Pin<Box<dyn Future<Output = Outcome>>>;

/// A task that stands in the queue of the executor once at most.
struct Task {
    index: usize,
    is_queued: AtomicBool,
    ready: Arc<Mutex<VecDeque<usize>>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_queued.swap(true, Relaxed) {
            self.ready.lock().unwrap_or_else(PoisonError::into_inner).push_back(self.index);
        }
    }
}

/// Reads `count` bodies in turn. Returns the CPU time of each in seconds.
fn read(shape: &Shape, count: usize, budget: Option<&MemoryBudget>) -> Result<f64, Error> {
    let mut reader = Reader::new(shape.limit);
    if let Some(budget) = budget {
        reader = reader.budget(budget);
    }
    let length = shape.declares.then_some(shape.len() as u64);
    let ready = Arc::new(Mutex::new((0..count).collect::<VecDeque<_>>()));
    let mut reads: Vec<Option<(Read, Arc<Task>)>> = (0..count)
        .map(|index| {
            let read = Collect::new(shape.body(), reader.clone()).content_length(length).bytes();
            let task = Task { index, is_queued: AtomicBool::new(true), ready: ready.clone() };
            Some((Box::pin(read) as Read, Arc::new(task)))
        })
        .collect();
    let (start, cpu) = (Instant::now(), thread_cpu());
    let mut left = count;
    while left > 0 {
        let index = ready.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let index = index.ok_or("all bodies wait and none is woken")?;
        let Some((read, task)) = &mut reads[index] else { continue };
        task.is_queued.store(false, Relaxed);
        let waker = Waker::from(task.clone());
        if let Poll::Ready(content) = read.as_mut().poll(&mut Context::from_waker(&waker)) {
            if content?.len() != shape.len() {
                return Err("a body has another length".into());
            }
            reads[index] = None;
            left -= 1;
        }
        if start.elapsed() > TIME_MAX {
            return Ok(f64::NAN);
        }
    }
    Ok((thread_cpu() - cpu).as_secs_f64() / count as f64)
}

/// Returns `count` reads that wait, and the content that leaves no room for them.
fn waiting(count: usize) -> Result<(MemoryBudget, Bytes, Vec<Read>), Error> {
    let budget = MemoryBudget::new(1 << 20);
    let half = Bytes::from(vec![b'x'; 1 << 19]);
    let body = Mock::new([Step::Data(half.clone()), Step::Data(half)]);
    let full = Collect::new(body, Reader::new(1 << 20).budget(&budget));
    let full = drive(full.content_length(Some(1 << 20)).bytes())?;
    let mut reads: Vec<_> = (0..count).map(|_| refused(&budget)).collect();
    for read in &mut reads {
        if poll_once(Pin::new(read)).is_ready() {
            return Err("a body does not wait for the full budget".into());
        }
    }
    Ok((budget, full, reads))
}

/// A body for which a full budget has no room.
fn refused(budget: &MemoryBudget) -> Read {
    let body = Mock::new([Step::Data(Bytes::from_static(&CONTENT[..512])), Step::Hang]);
    let collect = Collect::new(body, Reader::new(1 << 20).budget(budget));
    Box::pin(collect.content_length(ContentLength::Exact(1024)).bytes())
}

/// Drops `count` reads that wait. Returns the CPU time of each in seconds.
fn drop_all(count: usize, back_to_front: bool) -> Result<f64, Error> {
    let (_budget, _full, mut reads) = waiting(count)?;
    if back_to_front {
        reads.reverse();
    }
    let cpu = thread_cpu();
    drop(reads);
    Ok((thread_cpu() - cpu).as_secs_f64() / count as f64)
}

/// Reads bodies that fail fast while `count` others wait. Returns the CPU time of each in seconds.
fn fail_fast(count: usize) -> Result<f64, Error> {
    const BODIES: usize = 10_000;
    let (budget, _full, _reads) = waiting(count)?;
    let budget = budget.fail_fast();
    let mut reads: Vec<_> = (0..BODIES).map(|_| refused(&budget)).collect();
    let cpu = thread_cpu();
    for read in &mut reads {
        let Poll::Ready(Err(CollectError::Budget { .. })) = poll_once(Pin::new(read)) else {
            return Err("a body does not fail fast".into());
        };
    }
    drop(reads);
    Ok((thread_cpu() - cpu).as_secs_f64() / BODIES as f64)
}

/// The figures of one row in seconds, for each count.
struct Row {
    name: &'static str,
    budget: Vec<f64>,
    /// Empty if there is nothing to compare with.
    plain: Vec<f64>,
}

pub(crate) fn run() -> Result<(), Error> {
    let (counts, most, rounds) = if is_trial() {
        ([10, 20, 30, 40], 40, 1)
    } else {
        ([100, 1_000, 10_000, 50_000], 40_000, 5)
    };
    let mut rows = Vec::new();
    for shape in &SHAPES {
        let mut row = Row { name: shape.name, budget: Vec::new(), plain: Vec::new() };
        for count in counts {
            let (mut budget, mut plain) = (Vec::new(), Vec::new());
            // Few bodies take too little time for one measurement.
            for _ in 0..rounds * (counts[2] / count).max(1) {
                budget.push(read(shape, count, Some(&MemoryBudget::new(shape.budget)))?);
                // Without a budget, all contents are in memory at once.
                if (count * shape.len()) as u64 <= PLAIN_MAX {
                    plain.push(read(shape, count, None)?);
                }
            }
            row.budget.push(median(budget));
            row.plain.push(median(plain));
        }
        rows.push(row);
    }
    let mut bars = Bars::default();
    for row in &rows {
        let (many, few, plain) = (row.budget[3], row.budget[0], row.plain[3]);
        bars.beside(format!("{}: 50,000 open ÷ 100 open", row.name), many / few);
        bars.beside(format!("{}: 50,000 open ÷ no budget", row.name), many / plain);
        // One of two bars is enough: 3 for the first ratio, and 1.5 for the second.
        let of_bar = (many / few / 3.0).min(many / plain / 1.5);
        bars.at_most(format!("{}: part of the nearer bar", row.name), of_bar, 1.0);
    }
    type Figure = fn(usize) -> Result<f64, Error>;
    let figures: [(_, Figure); 3] = [
        ("dropping a waiter, last first", |count| drop_all(count, true)),
        ("dropping a waiter, first first", |count| drop_all(count, false)),
        ("failing fast beside waiters", fail_fast),
    ];
    for (name, figure) in figures {
        let measure = |count| -> Result<f64, Error> {
            let times: Result<Vec<_>, _> = (0..rounds).map(|_| figure(count)).collect();
            Ok(median(times?))
        };
        let budget = counts.map(measure).into_iter().collect::<Result<_, _>>()?;
        rows.push(Row { name, budget, plain: Vec::new() });
        let (half, whole) = (measure(most)?, measure(2 * most)?);
        if name.starts_with("dropping") {
            bars.at_most(format!("{name}: 80,000 ÷ 40,000, all"), 2.0 * whole / half, 2.5);
        } else {
            bars.at_most(format!("{name}: 80,000, µs"), whole * 1e6, 1.0);
        }
    }
    println!("{}", table(&rows));
    println!(
        "CPU time of a body in µs, with a budget / without, by number of bodies that are open.\n"
    );
    println!("{bars}");
    record::rows("crowd", &csv(&rows, &counts))?;
    record::table("crowd", &markdown(&rows))?;
    Ok(())
}

/// Returns the cells of a row in microseconds: with a budget, and without.
fn cells(row: &Row) -> [String; 5] {
    let mut cells = row.budget.iter().enumerate().map(|(index, &budget)| {
        let plain = row.plain.get(index).copied();
        several([budget].into_iter().chain(plain).map(|time| time * 1e6), ratio)
    });
    let mut next = || cells.next().unwrap_or_default();
    [row.name.to_owned(), next(), next(), next(), next()]
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(1, [""; 5], ["bodies", "100", "1,000", "10,000", "50,000"]);
    table.rule();
    rows.iter().for_each(|row| table.row(cells(row)));
    table
}

/// Returns the table of BENCHMARKS.md.
fn markdown(rows: &[Row]) -> Markdown {
    let mut table = Markdown::new(["bodies", "100", "1,000", "10,000", "50,000"]);
    rows.iter().for_each(|row| table.row(cells(row)));
    table
}

fn csv(rows: &[Row], counts: &[usize]) -> Rows {
    let mut csv = Rows::new(["case", "bodies", "budget_us", "no_budget_us"]);
    for row in rows {
        for (index, (count, budget)) in counts.iter().zip(&row.budget).enumerate() {
            let plain = row.plain.get(index).copied().unwrap_or(f64::NAN);
            let (budget, plain) = (figure(budget * 1e6), figure(plain * 1e6));
            csv.push([row.name.to_owned(), count.to_string(), budget, plain]);
        }
    }
    csv
}

/// The most bytes that are read without a budget.
const PLAIN_MAX: u64 = 2 << 30;

/// A case that takes longer has no figure.
const TIME_MAX: Duration = Duration::from_secs(60);
