//! The records of client and server, compared.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use presized_support::bars::{Bars, is_trial};
use presized_support::client::Error;
use presized_support::table;

use crate::Job;
use crate::response::Fate;
use crate::server::Record;
use crate::tally::letter;

/// The number of calls with each end.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    right: u32,
    /// Failed, and the client says that the function may have run.
    may_have_run: u32,
    /// Failed, and the client says that the function has not run.
    has_not_run: u32,
    wrong: u32,
    lost: u32,
    /// Runs in the record of the server.
    runs: u32,
    run_twice: u32,
    /// Succeeded or may have run, by the client, and not in the record of the server.
    not_run: u32,
    /// Not run, by the client, and in the record of the server.
    run_unknown: u32,
    /// Succeeded with a broken response, or failed with a whole one.
    mistaken: u32,
    connections: u32,
    memory: [f64; 4],
}

impl Outcome {
    /// Compares the letters of the client with the record of the server.
    pub(crate) fn of(record: &Record, letters: &[u8], memory: [f64; 4]) -> Self {
        let connections = record.connections.load(Relaxed);
        let mut outcome = Self { memory, connections, ..Self::default() };
        for (call, runs) in (0..).zip(&record.runs) {
            let letter = letters.get(call as usize).copied().unwrap_or(letter::LOST);
            let runs = runs.load(Relaxed);
            outcome.runs += runs;
            outcome.run_twice += u32::from(runs > 1);
            match letter {
                letter::RIGHT => outcome.right += 1,
                letter::WRONG => outcome.wrong += 1,
                letter::MAY_HAVE_RUN => outcome.may_have_run += 1,
                letter::HAS_NOT_RUN => outcome.has_not_run += 1,
                _ => outcome.lost += 1,
            }
            match letter {
                letter::HAS_NOT_RUN => outcome.run_unknown += u32::from(runs > 0),
                _ => outcome.not_run += u32::from(runs == 0),
            }
            let whole = Fate::of(call) == Fate::Whole;
            outcome.mistaken += u32::from(whole != (letter == letter::RIGHT));
        }
        outcome
    }

    /// Returns the counts that must be zero, with their names.
    fn faults(&self) -> [(&'static str, u32); 6] {
        [
            ("calls without an end", self.lost),
            ("calls with wrong content", self.wrong),
            ("whole responses not received, or broken ones accepted", self.mistaken),
            ("calls that ran twice", self.run_twice),
            ("calls that did not run, but may have run by the client", self.not_run),
            ("calls that ran, but have not run by the client", self.run_unknown),
        ]
    }

    /// Fails unless all calls are accounted for.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        if self.faults().iter().all(|&(_, count)| count == 0) {
            Ok(())
        } else {
            Err(format!("the records of client and server differ: {self:?}").into())
        }
    }
}

pub(crate) fn print(job: &Job, outcome: &Outcome, errors: &str, time: Duration) {
    let Job { warm_up, calls, in_flight, .. } = *job;
    let Outcome { right, may_have_run, has_not_run, runs, connections, .. } = outcome;
    println!("{warm_up} calls to warm up and {calls} more, {in_flight} at a time,");
    println!("over {connections} connections, in {time:.1?}\n");
    println!("succeeded with the right content: {right}");
    println!("failed with a typed error: {} ({errors})", may_have_run + has_not_run);
    println!("run or may have run, by the client: {}", right + may_have_run);
    println!("run, by the server: {runs}");
    let [live_first, live_last, resident_first, resident_last] = outcome.memory;
    let bytes = |bytes: f64| table::bytes(bytes as u64);
    let (first, last) = (bytes(live_first), bytes(live_last));
    println!("least memory alive in the first tenth of the {calls}: {first}, in the last: {last}");
    let (first, last) = (bytes(resident_first), bytes(resident_last));
    println!("memory resident in the first tenth of the {calls}: {first}, in the last: {last}");
    println!("\n{}", bars(outcome));
}

fn bars(outcome: &Outcome) -> Bars {
    let mut bars = Bars::default();
    for (what, count) in outcome.faults() {
        bars.exactly(what, count.into(), 0.0);
    }
    // A trial run has too few calls to measure memory.
    if is_trial() {
        return bars;
    }
    // Memory alive varies by half, with the read buffers of hyper. Resident memory is steady.
    let [_, _, first, last] = outcome.memory;
    let apart = (last / first - 1.0).abs() * 100.0;
    bars.at_most("memory resident, difference of first and last tenth, %", apart, 5.0);
    bars
}
