//! The line of each minute, and the bars at the end.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use presized_lambda_emulator::Stats;
use presized_support::bars::Bars;
use presized_support::table::{self, median};

use crate::calls::Calls;

/// The memory of the function process at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) at: Duration,
    pub(crate) resident: f64,
    pub(crate) peak: f64,
}

/// The record of the function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    pub(crate) runs: u64,
    pub(crate) twice: u64,
    pub(crate) marks: u64,
}

/// The windows in which memory is compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// Two minutes of half an hour. A window has five.
    pub(crate) warm_up: Duration,
    pub(crate) length: Duration,
    pub(crate) end: Duration,
}

impl Windows {
    pub(crate) fn of(end: Duration) -> Self {
        Self { warm_up: end / 15, length: end / 6, end }
    }

    /// Returns the medians of resident memory in the first and in the last window.
    fn resident(self, samples: &[Sample]) -> [f64; 2] {
        let first = self.warm_up..self.warm_up + self.length;
        let last = self.end - self.length..self.end;
        [first, last].map(|window| {
            let within = samples.iter().filter(|sample| window.contains(&sample.at));
            median(within.map(|sample| sample.resident))
        })
    }
}

pub(crate) fn print_header() {
    println!(
        "{:>6} {:>9} {:>9} {:>8} {:>7} {:>7} {:>9} {:>6} {:>11} {:>11}",
        "minute",
        "calls",
        "answered",
        "refused",
        "panics",
        "cut",
        "mistaken",
        "lost",
        "resident",
        "peak"
    );
}

/// Prints the calls so far, and the memory in the last minute.
pub(crate) fn print_minute(minute: u64, calls: &Calls, samples: &[Sample]) {
    let [answered, refused, panicked, mistaken, lost] =
        [&calls.answered, &calls.refused, &calls.panicked, &calls.mistaken, &calls.lost]
            .map(|count| count.load(Relaxed));
    let cut = [&calls.events_cut, &calls.responses_cut, &calls.receipts_cut]
        .map(|count| count.load(Relaxed))
        .iter()
        .sum::<u64>();
    let since = Duration::from_secs(60 * (minute - 1));
    let within = samples.iter().filter(|sample| sample.at >= since);
    let resident = table::bytes(median(within.map(|sample| sample.resident)) as u64);
    let peak = table::bytes(samples.last().map_or(0, |sample| sample.peak as u64));
    println!(
        "{minute:>6} {:>9} {answered:>9} {refused:>8} {panicked:>7} {cut:>7} {mistaken:>9} \
         {lost:>6} {resident:>11} {peak:>11}",
        calls.made(),
    );
}

/// Returns the results next to the required ones.
pub(crate) fn bars(
    calls: &Calls,
    cuts: u64,
    stats: Stats,
    account: Account,
    resident: [f64; 2],
) -> Bars {
    let mut bars = Bars::default();
    let [mistaken, lost, events, responses, receipts] = [
        &calls.mistaken,
        &calls.lost,
        &calls.events_cut,
        &calls.responses_cut,
        &calls.receipts_cut,
    ]
    .map(|count| count.load(Relaxed));
    let made = calls.made();
    let failed = [&calls.refused, &calls.panicked].map(|count| count.load(Relaxed));
    let failed = failed.iter().sum::<u64>() + events + responses;

    bars.exactly("calls without a response", lost as f64, 0.0);
    bars.exactly("calls with another response than planned", mistaken as f64, 0.0);
    bars.exactly("connections cut", cuts as f64, (events + responses + receipts) as f64);
    bars.exactly("emulator: calls", stats.invoked as f64, made as f64);
    bars.exactly("emulator: events delivered", stats.started as f64, made as f64);
    bars.exactly("emulator: responses", stats.responses as f64, (made - failed) as f64);
    bars.exactly("emulator: errors", stats.errors as f64, failed as f64);
    bars.exactly("emulator: timeouts", stats.timeouts as f64, 0.0);
    bars.exactly("emulator: throttled", stats.throttled as f64, 0.0);
    // A cut response is refused, and so is a response that is sent again without need.
    let most = 2 * responses + receipts;
    bars.at_most("emulator: responses refused", stats.rejected as f64, most as f64);
    bars.exactly("function: runs", account.runs as f64, calls.to_run() as f64);
    bars.exactly("function: repeated runs", account.twice as f64, 0.0);
    let others = account.marks.wrapping_sub(calls.marks.load(Relaxed));
    bars.exactly("function: runs of other calls", f64::from(others != 0), 0.0);
    let [first, last] = resident;
    let apart = (last / first - 1.0).abs() * 100.0;
    bars.at_most("memory resident, difference of first and last window, %", apart, 5.0);
    bars
}

/// Prints and returns the resident memory of the first and of the last window.
pub(crate) fn resident(windows: Windows, samples: &[Sample]) -> [f64; 2] {
    let resident = windows.resident(samples);
    let [first, last] = resident.map(|bytes| table::bytes(bytes as u64));
    let Windows { warm_up, length, .. } = windows;
    println!(
        "\nmemory resident in the first {length:.0?} after {warm_up:.0?}: {first}; \
         in the last {length:.0?}: {last}"
    );
    resident
}
