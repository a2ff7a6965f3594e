//! The accounts of client and server, beside each other.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use presized_support::bars::{Bars, is_trial};
use presized_support::client::Error;
use presized_support::table;

use crate::Errand;
use crate::answer::Fate;
use crate::server::Record;
use crate::tally::letter;

/// What has become of the calls, in numbers of them.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    right: u32,
    /// With an error, of which the client says that the function may have run.
    may_have_run: u32,
    /// With an error, of which it says that it has not.
    has_not_run: u32,
    wrong: u32,
    lost: u32,
    /// By the record of the server.
    runs: u32,
    run_twice: u32,
    /// Right, or said to have possibly run, and the server knows nothing of them.
    not_run: u32,
    /// Said not to have run, and they have.
    run_unknown: u32,
    /// Right, though the answer was a broken one; or failed, though it was whole.
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

    /// The counts that must all be zero, by what they count.
    fn faults(&self) -> [(&'static str, u32); 6] {
        [
            ("calls without an end", self.lost),
            ("calls with wrong bytes", self.wrong),
            ("whole answers not received, or broken ones taken for whole", self.mistaken),
            ("calls that ran twice", self.run_twice),
            ("calls that did not run, and the client believes that they may have", self.not_run),
            ("calls that ran, and the client says that they have not", self.run_unknown),
        ]
    }

    /// Whether all calls are accounted for.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        if self.faults().iter().all(|&(_, count)| count == 0) {
            Ok(())
        } else {
            Err(format!("the accounts differ: {self:?}").into())
        }
    }
}

pub(crate) fn print(errand: Errand, outcome: &Outcome, errors: &str, time: Duration) {
    let Errand { warm_up, calls, in_flight, .. } = errand;
    let Outcome { right, may_have_run, has_not_run, runs, connections, .. } = outcome;
    println!("{warm_up} calls to warm up and {calls} more, {in_flight} at a time,");
    println!("over {connections} connections, in {time:.1?}\n");
    println!("answered with the right bytes: {right}");
    println!("failed with a typed error: {} ({errors})", may_have_run + has_not_run);
    println!("believed by the client to have run: {}", right + may_have_run);
    println!("run by the server: {runs}");
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
    // Too few calls to say anything of memory.
    if is_trial() {
        return bars;
    }
    // What is alive swings by half with hyper's read buffers, and up as well as down.
    let [_, _, first, last] = outcome.memory;
    let apart = (last / first - 1.0).abs() * 100.0;
    bars.at_most("memory resident, first tenth and last, % apart", apart, 5.0);
    bars
}
