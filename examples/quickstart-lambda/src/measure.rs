//! The cost of one call for its caller.

use std::time::{Duration, Instant};

use presized_lambda_emulator::Emulator;
use presized_support::ledger::{Ledger, Mark};
use tokio::time::sleep;

use crate::Error;
use crate::ways::{Caller, Way};

/// The number of calls in each way that are timed, after one that opens the connection.
pub(crate) const TIMED: usize = 200;

/// The number of calls in each way whose allocations are counted, after one that opens the
/// connection.
const COUNTED: u32 = 4;

/// One row of the table: the cost of a call in one way.
pub(crate) struct Cell {
    pub(crate) way: Way,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    /// The page faults of one call, where the kernel counts them for a thread.
    pub(crate) page_faults: Option<f64>,
    /// The most memory, in bytes above the time before the connection.
    pub(crate) peak: u64,
    /// The number of large allocations of one call.
    pub(crate) large: f64,
    /// The bytes of all allocations of one call.
    pub(crate) allocated: f64,
    /// The number of copies of each byte.
    pub(crate) copies: u32,
}

/// Calls for responses of `size` bytes in each way.
pub(crate) async fn measure(
    emulator: &Emulator,
    size: usize,
    ways: &[Way],
) -> Result<Vec<Cell>, Error> {
    let mut cells = Vec::new();
    for mut timed in time(emulator, size, ways).await? {
        timed.times.sort_unstable();
        let memory = count(emulator, size, timed.way).await?;
        cells.push(Cell {
            way: timed.way,
            p50: timed.times[TIMED.div_ceil(2) - 1],
            p99: timed.times[(TIMED * 99).div_ceil(100) - 1],
            page_faults: timed.page_faults.map(|faults| faults as f64 / TIMED as f64),
            peak: memory.peak,
            large: memory.large,
            allocated: memory.allocated,
            copies: memory.copies,
        });
    }
    Ok(cells)
}

/// Waits until connections that are not used any more are closed and their memory is freed.
pub(crate) async fn settle() {
    sleep(Duration::from_millis(20)).await;
}

/// A caller and the times of its calls.
struct Timed {
    way: Way,
    caller: Caller,
    times: Vec<Duration>,
    page_faults: Option<u64>,
}

/// Calls in each way in turn, without counting allocations.
async fn time(emulator: &Emulator, size: usize, ways: &[Way]) -> Result<Vec<Timed>, Error> {
    let mut all = Vec::new();
    for &way in ways {
        let caller = way.caller(emulator)?;
        all.push(Timed { way, caller, times: Vec::new(), page_faults: Some(0) });
    }
    for round in 0..=TIMED {
        for timed in &mut all {
            let before = page_faults();
            let start = Instant::now();
            let response = timed.caller.call(size).await?;
            let time = start.elapsed();
            let page_faults = page_faults().zip(before).map(|(after, before)| after - before);
            response.check(size)?;
            if round > 0 {
                timed.times.push(time);
                timed.page_faults =
                    timed.page_faults.zip(page_faults).map(|(sum, more)| sum + more);
            }
        }
    }
    Ok(all)
}

/// Returns the page faults of this thread that needed no I/O.
#[cfg(target_os = "linux")]
fn page_faults() -> Option<u64> {
    Some(presized_support::usage::minor_faults())
}

#[cfg(not(target_os = "linux"))]
fn page_faults() -> Option<u64> {
    None
}

/// The memory of one call.
struct Memory {
    peak: u64,
    large: f64,
    allocated: f64,
    copies: u32,
}

async fn count(emulator: &Emulator, size: usize, way: Way) -> Result<Memory, Error> {
    let caller = way.caller(emulator)?;
    Ledger::count_this_thread(true);
    let opened = Mark::now();
    caller.call(size).await?.check(size)?;
    let before = opened.spent();
    let mut copies = 0;
    for _ in 0..COUNTED {
        let response = caller.call(size).await?;
        response.check(size)?;
        copies = response.copies.max(copies);
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
