//! The client's record of its calls, in memory that does not grow.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use presized_lambda_invoke::ErrorKind;
use presized_support::ledger::Ledger;
use presized_support::meter::Resident;
use presized_support::table::median;

use crate::Job;

/// The end of a call.
pub(crate) enum End {
    Right,
    Wrong,
    Failed(presized_lambda_invoke::Error),
}

/// The letters that say how a call ended.
pub(crate) mod letter {
    pub(crate) const LOST: u8 = b'-';
    pub(crate) const RIGHT: u8 = b'r';
    pub(crate) const WRONG: u8 = b'w';
    /// Failed, and the function may have run.
    pub(crate) const MAY_HAVE_RUN: u8 = b'm';
    /// Failed, and the function has not run.
    pub(crate) const HAS_NOT_RUN: u8 = b'n';
}

pub(crate) struct Tally {
    next: AtomicU32,
    ended: AtomicU32,
    letters: Vec<AtomicU8>,
    errors: Mutex<BTreeMap<&'static str, u32>>,
    samples: Mutex<Vec<Sample>>,
    /// The number of samples before memory is measured.
    warm_up: usize,
}

/// The memory at one time.
#[derive(Clone, Copy)]
struct Sample {
    live: u64,
    resident: u64,
}

impl Tally {
    pub(crate) fn of(job: &Job) -> Self {
        let calls = job.warm_up + job.calls;
        Self {
            next: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            letters: (0..calls).map(|_| AtomicU8::new(letter::LOST)).collect(),
            errors: Mutex::default(),
            samples: Mutex::new(Vec::with_capacity((calls / SAMPLED) as usize)),
            warm_up: (job.warm_up / SAMPLED) as usize,
        }
    }

    /// Returns the number of the next call, or `None` after the last.
    pub(crate) fn next_call(&self) -> Option<u32> {
        let call = self.next.fetch_add(1, Relaxed);
        ((call as usize) < self.letters.len()).then_some(call)
    }

    pub(crate) fn end(&self, call: u32, end: End) {
        let letter = match end {
            End::Right => letter::RIGHT,
            End::Wrong => letter::WRONG,
            End::Failed(error) => {
                let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
                *errors.entry(name(error.kind())).or_default() += 1;
                if error.may_have_run() { letter::MAY_HAVE_RUN } else { letter::HAS_NOT_RUN }
            }
        };
        self.letters[call as usize].store(letter, Relaxed);
        if (self.ended.fetch_add(1, Relaxed) + 1).is_multiple_of(SAMPLED) {
            let sample = Sample { live: Ledger::live(), resident: Resident::read().now };
            self.samples.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
        }
    }

    /// Returns the letters of all calls, in order.
    pub(crate) fn ends(&self) -> String {
        self.letters.iter().map(|letter| char::from(letter.load(Relaxed))).collect()
    }

    pub(crate) fn errors(&self) -> String {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let errors: Vec<_> = errors.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        errors.join(", ")
    }

    /// Returns the fewest bytes alive in the first and in the last tenth of the samples, and the
    /// medians of the bytes resident.
    ///
    /// The bytes alive vary with the number of calls that wait for a response. A leak shows in the
    /// smallest figure.
    pub(crate) fn memory(&self) -> [f64; 4] {
        let samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let samples = &samples[self.warm_up..];
        let tenth = samples.len() / 10;
        let (first, last) = (&samples[..tenth], &samples[samples.len() - tenth..]);
        let live = |samples: &[Sample]| {
            samples.iter().map(|sample| sample.live as f64).fold(f64::INFINITY, f64::min)
        };
        let resident =
            |samples: &[Sample]| median(samples.iter().map(|sample| sample.resident as f64));
        [live(first), live(last), resident(first), resident(last)]
    }
}

fn name(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Broken(_) => "broken responses",
        ErrorKind::Connect(_) => "connections refused",
        ErrorKind::Timeout { .. } => "timeouts",
        ErrorKind::BudgetFull { .. } => "full budgets",
        ErrorKind::Service(_) => "errors of the service",
        _ => "others",
    }
}

/// The number of calls between two samples of the memory.
const SAMPLED: u32 = 50;
