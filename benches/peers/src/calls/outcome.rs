//! The measurements of the cases.

use std::array;

use presized_benches::allocator::Allocator;
use presized_benches::chart::Chart;
use presized_benches::markdown::Markdown;
use presized_benches::record::{Rows, figure};
use presized_support::table::{self, median};

use super::Way;
use super::case::Case;

/// The measurements of one case.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The client, and the length of its responses.
    pub case: Case,
    /// The memory of one call.
    pub memory: Memory,
    /// Seconds for one call, in each round.
    pub cpu: Vec<f64>,
    /// Page faults of one call, in each round.
    pub faults: Vec<f64>,
    /// The latency with many calls in flight, in each round.
    pub latency: Vec<Latency>,
}

impl Outcome {
    pub(super) fn new(case: Case, memory: Memory) -> Self {
        Self { case, memory, cpu: Vec::new(), faults: Vec::new(), latency: Vec::new() }
    }

    /// Returns the median of the CPU time in seconds.
    pub fn median_cpu(&self) -> f64 {
        median(self.cpu.iter().copied())
    }

    /// Returns the median of the page faults.
    pub fn median_faults(&self) -> f64 {
        median(self.faults.iter().copied())
    }

    /// Returns the medians of the latency over the rounds.
    pub fn median_latency(&self) -> Latency {
        let rounds = || self.latency.iter();
        let p50 = median(rounds().map(|round| round.p50));
        Latency { p50, p99: median(rounds().map(|round| round.p99)) }
    }
}

/// The memory of one call.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Allocations.
    pub allocations: f64,
    /// Allocations of 4 KiB and more.
    pub large: f64,
    /// Bytes allocated.
    pub allocated: f64,
    /// The most bytes alive at one time, those of the client included.
    pub peak: f64,
    /// Bytes alive between two calls.
    pub idle: f64,
    /// The most bytes resident, above those before the client.
    pub resident: f64,
}

impl From<[f64; 6]> for Memory {
    fn from([allocations, large, allocated, peak, idle, resident]: [f64; 6]) -> Self {
        Self { allocations, large, allocated, peak, idle, resident }
    }
}

impl IntoIterator for Memory {
    type Item = f64;
    type IntoIter = array::IntoIter<f64, 6>;

    fn into_iter(self) -> Self::IntoIter {
        let Self { allocations, large, allocated, peak, idle, resident } = self;
        [allocations, large, allocated, peak, idle, resident].into_iter()
    }
}

/// The time from a call to its response, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    /// The median of a round.
    pub p50: f64,
    /// The 99th percentile of a round.
    pub p99: f64,
}

/// All cases in one state of the allocator.
#[derive(Clone, Debug)]
pub struct Outcomes {
    /// The state.
    pub allocator: Allocator,
    /// The cases, by length.
    pub all: Vec<Outcome>,
}

impl Outcomes {
    /// Returns the case with this client and length. A trial run leaves some out.
    pub fn find(&self, length: u64, way: Way) -> Option<&Outcome> {
        self.all.iter().find(|one| one.case == Case { way, length })
    }

    /// Returns a figure of a case, or NaN if a trial run has left it out.
    pub fn figure(&self, length: u64, way: Way, figure: impl Fn(&Outcome) -> f64) -> f64 {
        self.find(length, way).map_or(f64::NAN, figure)
    }

    /// Returns a figure of a case ÷ that of the SDK.
    pub fn ratio(&self, length: u64, way: Way, figure: impl Fn(&Outcome) -> f64) -> f64 {
        self.figure(length, way, &figure) / self.figure(length, Way::Sdk, &figure)
    }

    /// Returns the median over the rounds of the CPU time ÷ that of the SDK in the same round.
    pub fn cpu_ratio(&self, length: u64, way: Way) -> f64 {
        let cpu = |way| self.find(length, way).map_or(&[][..], |one| &one.cpu);
        median(cpu(way).iter().zip(cpu(Way::Sdk)).map(|(one, sdk)| one / sdk))
    }

    /// Returns the lengths of the responses.
    pub fn lengths(&self) -> Vec<u64> {
        let mut lengths: Vec<_> = self.all.iter().map(|one| one.case.length).collect();
        lengths.dedup();
        lengths
    }

    /// Returns one figure for each length and way, for a chart.
    pub fn values(&self, ways: &[Way], figure: impl Fn(u64, Way) -> f64) -> Vec<Vec<f64>> {
        let of_length = |length| ways.iter().map(|&way| figure(length, way)).collect();
        self.lengths().into_iter().map(of_length).collect()
    }
}

/// Creates a chart with a series for each way and a group for each length.
pub fn chart(title: String, note: &str, ways: &[Way], outcomes: &Outcomes) -> Chart {
    let lengths = outcomes.lengths().into_iter().map(table::bytes);
    let chart = Chart::new(title, note).groups(lengths);
    ways.iter().fold(chart, |chart, way| chart.series(way.name(), way.color()))
}

/// Returns the figures of all states for a CSV file.
pub fn rows(states: &[Outcomes]) -> Rows {
    let mut rows = Rows::new([
        "allocator",
        "response_bytes",
        "client",
        "cpu_us",
        "cpu_ratio_to_sdk",
        "page_faults",
        "allocations",
        "large_allocations",
        "allocated_bytes",
        "peak_bytes",
        "idle_bytes",
        "resident_bytes",
        "p50_us_64_in_flight",
        "p99_us_64_in_flight",
    ]);
    for outcomes in states {
        for outcome in &outcomes.all {
            let Case { way, length } = outcome.case;
            let Memory { allocations, large, allocated, peak, idle, resident } = outcome.memory;
            let Latency { p50, p99 } = outcome.median_latency();
            rows.push([
                outcomes.allocator.name.to_owned(),
                length.to_string(),
                way.name().to_owned(),
                figure(outcome.median_cpu() * 1e6),
                figure(outcomes.cpu_ratio(length, way)),
                figure(outcome.median_faults()),
                figure(allocations),
                figure(large),
                figure(allocated),
                figure(peak),
                figure(idle),
                figure(resident),
                figure(p50 * 1e6),
                figure(p99 * 1e6),
            ]);
        }
    }
    rows
}

/// A row of a table: its name, and its cell for one state.
pub type Figure<'a> = (&'a str, &'a dyn Fn(&Outcomes) -> String);

/// Returns a table with a row for each figure and a column for each state.
pub fn markdown(states: &[Outcomes], figures: &[Figure<'_>]) -> Markdown {
    let mut table = Markdown::new(["figure", "default", "kept", "returned"]);
    for (name, figure) in figures {
        let mut cells = states.iter().map(figure);
        let mut cell = || cells.next().unwrap_or_default();
        table.row([(*name).to_owned(), cell(), cell(), cell()]);
    }
    table
}
