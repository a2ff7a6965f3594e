//! What a call costs its caller.

use std::io::Write;
use std::time::{Duration, Instant};

use presized_lambda_emulator::Emulator;
use presized_support::ledger::{Ledger, Mark};
use presized_support::table::{self, Table};
use presized_support::usage::minor_faults;
use tokio::time::sleep;

use crate::ways::{Caller, Way};
use crate::{Error, KIB, MIB};

/// Prints one table: every size, by every way to read it.
pub(crate) async fn compare(emulator: &Emulator, out: &mut impl Write) -> Result<(), Error> {
    let mut table = Table::new(
        2,
        ["", "", "", "", "peak", "peak", "large", "allocated", "", "page"],
        [
            "answer",
            "read with",
            "p50",
            "p99",
            "memory",
            "÷ answer",
            "allocs",
            "÷ answer",
            "copies",
            "faults",
        ],
    );
    writeln!(out, "Calling a function for its answer, the caller's side, everything counted:\n")?;
    for size in [KIB, MIB, 6 * MIB] {
        table.rule();
        // A pool is for what is larger than a page or two.
        let ways = if size < MIB { &Way::ALL[..2] } else { &Way::ALL };
        let times = clock(emulator, size, ways).await?;
        for (&way, times) in ways.iter().zip(times) {
            let memory = count(emulator, size, way).await?;
            table.row([
                table::bytes(size as u64),
                way.name().to_owned(),
                table::time(times.p50),
                table::time(times.p99),
                table::bytes(memory.peak),
                table::times(memory.peak as f64 / size as f64),
                format!("{:.1}", memory.large),
                table::times(memory.allocated / size as f64),
                memory.copies.to_string(),
                format!("{:.0}", times.page_faults),
            ]);
        }
    }
    write!(out, "{table}")?;
    writeln!(out, "{NOTES}")?;
    Ok(())
}

const NOTES: &str = "
Times are from the call to the whole answer, function and emulator included, of 200 calls in
turn on connections that are kept alive. presized signs each call and has a deadline on it;
hyper's client, whose answers are collected, does neither. Peak memory is the most that was
alive at one time since before the connection was opened: the answer, hyper's buffers, the
connection, and the pool. Large allocations (4 KiB and more), bytes allocated and page faults
are means per call on a warm connection; pages fault more often where an allocator gives back
what is freed. Copies are those of each byte after it was read from the socket, by hyper's
frames being joined, or by presized putting them in their place.";

/// How long calls took, and how many pages faulted for each.
struct Times {
    p50: Duration,
    p99: Duration,
    page_faults: f64,
}

/// Calls that are timed, after one that warms up the connection.
const TIMED: usize = 200;

/// Calls in each of the ways in turn, with the ledger closed.
async fn clock(emulator: &Emulator, size: usize, ways: &[Way]) -> Result<Vec<Times>, Error> {
    let mut clocks = Vec::new();
    for way in ways {
        clocks.push(Clock { caller: way.caller(emulator)?, times: Vec::new(), faults: 0 });
    }
    for round in 0..=TIMED {
        for clock in &mut clocks {
            let faults = minor_faults();
            let start = Instant::now();
            let answer = clock.caller.call(size).await?;
            let (time, faults) = (start.elapsed(), minor_faults() - faults);
            answer.check(size)?;
            if round > 0 {
                clock.times.push(time);
                clock.faults += faults;
            }
        }
    }
    let times = clocks.into_iter().map(Clock::stop).collect();
    settle().await;
    Ok(times)
}

struct Clock {
    caller: Caller,
    times: Vec<Duration>,
    faults: u64,
}

impl Clock {
    fn stop(mut self) -> Times {
        self.times.sort_unstable();
        Times {
            p50: self.times[TIMED.div_ceil(2) - 1],
            p99: self.times[(TIMED * 99).div_ceil(100) - 1],
            page_faults: self.faults as f64 / TIMED as f64,
        }
    }
}

/// What calls took of memory.
struct Memory {
    peak: u64,
    large: f64,
    allocated: f64,
    copies: u32,
}

/// Calls whose allocations are counted, after one that warms up the connection.
const COUNTED: u32 = 4;

async fn count(emulator: &Emulator, size: usize, way: Way) -> Result<Memory, Error> {
    let caller = way.caller(emulator)?;
    Ledger::count_this_thread(true);
    let opened = Mark::now();
    caller.call(size).await?.check(size)?;
    let before = opened.spent();
    let mut copies = 0;
    for _ in 0..COUNTED {
        let answer = caller.call(size).await?;
        answer.check(size)?;
        copies = answer.copies.max(copies);
    }
    let after = opened.spent();
    drop(caller);
    settle().await;
    Ledger::count_this_thread(false);
    let per_call = |total: u64| total as f64 / f64::from(COUNTED);
    Ok(Memory {
        peak: after.peak,
        large: per_call(after.large - before.large),
        allocated: per_call(after.bytes - before.bytes),
        copies,
    })
}

/// Waits until connections that nobody has any more are closed, and their memory is freed.
pub(crate) async fn settle() {
    sleep(Duration::from_millis(20)).await;
}
