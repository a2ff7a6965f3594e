//! Functions over loopback: lambda_runtime and presized, each with its defaults.
//!
//! This process runs the emulator and the callers. Each case is served by a function process of its
//! own, and the processes of one cell take turns.
//!
//! `cargo bench --bench runtime` measures all cells. With `-- --strace` it also counts the system
//! calls of the steady state. With `-- TEXT` it measures only the cells whose name contains the
//! text, such as `response 1 KiB, 8`.

mod case;
mod function;
mod process;
mod report;
mod steady;

use std::time::Duration;

use presized::BufferPool;
use presized_benches::{child, record};
use presized_lambda_emulator::{Emulator, Function};
use presized_support::bars::is_trial;
use presized_support::client::Error;
use presized_support::ledger::Ledger;
use presized_support::meter::{Side, pin};

use crate::case::{Case, Cell, KIB, MIB, Party, SIX_MIB, Threads, Work};
use crate::function::Job;
use crate::process::{Allocated, Batch, Process};

/// Counts in the function processes whose job is to count.
#[global_allocator]
static LEDGER: Ledger = Ledger;

fn main() -> Result<(), Error> {
    if let Some(job) = child::job() {
        return function::serve(serde_json::from_str(&job)?);
    }
    pin(Side::Server);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let pool = BufferPool::new(IDLE_BYTES);
        let mut outcomes = Vec::new();
        let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
        if let Some(text) = wanted {
            for cell in cells().into_iter().filter(|cell| cell.name().contains(&text)) {
                outcomes.extend(take_turns(cell, &pool).await?);
            }
            report::print_figures(&outcomes);
            return Ok(());
        }
        for cell in cells() {
            outcomes.extend(take_turns(cell, &pool).await?);
        }
        report::print_figures(&outcomes);
        report::print_bars(&outcomes);
        record::rows("runtime", &report::rows(&outcomes))?;
        record::chart("runtime", &report::chart(&outcomes))?;
        record::table("runtime", &report::markdown(&outcomes))?;
        steady::run(&pool).await
    })
}

/// The measurements of one case.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) case: Case,
    /// The calls of each round.
    pub(crate) batches: Vec<Batch>,
    /// The most bytes resident.
    pub(crate) peak: f64,
    pub(crate) allocated: Allocated,
}

fn cells() -> Vec<Cell> {
    let works =
        [Work::Respond(KIB), Work::Respond(MIB), Work::Respond(SIX_MIB), Work::Event(SIX_MIB)];
    let cell = |work, workers, threads| Cell { work, workers, threads };
    if is_trial() {
        let works = [Work::Respond(KIB), Work::Event(MIB)];
        return works.map(|work| cell(work, 2, Threads::Many)).into();
    }
    let mut cells = Vec::new();
    for work in works {
        cells.push(cell(work, 1, Threads::One));
        cells.extend([1, 8, 16, 32].map(|workers| cell(work, workers, Threads::Many)));
    }
    cells
}

/// Measures all parties with the same work. They take turns.
async fn take_turns(cell: Cell, pool: &BufferPool) -> Result<Vec<Outcome>, Error> {
    let emulator = start(cell).await?;
    let mut parties = Vec::new();
    for party in Party::ALL {
        let case = Case { party, cell };
        // A process that counts allocations ends before the clock is used.
        let mut process = Process::start(&emulator, pool, Job { case, counts: true }).await?;
        process.call(cell.batch()).await?;
        let allocated = process.allocated(cell.batch()).await?;
        process.finish()?;
        let mut process = Process::start(&emulator, pool, Job { case, counts: false }).await?;
        // The first batch connects and lets pools, buffers and the allocator grow.
        process.call(cell.batch()).await?;
        parties.push((process, Outcome { case, batches: Vec::new(), peak: 0.0, allocated }));
    }
    for _ in 0..if is_trial() { 1 } else { cell.rounds() } {
        for (process, outcome) in &mut parties {
            outcome.batches.push(process.batch(cell.batch()).await?);
        }
    }
    let mut outcomes = Vec::new();
    for (mut process, mut outcome) in parties {
        [_, outcome.peak] = process.resident()?;
        process.finish()?;
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Starts an emulator with a function for each party.
async fn start(cell: Cell) -> Result<Emulator, Error> {
    let mut function = Function::new().timeout(TIMEOUT).init_timeout(TIMEOUT);
    if cell.workers > 1 {
        function = function.concurrency(cell.workers);
    }
    let mut emulator = Emulator::builder();
    for party in Party::ALL {
        emulator = emulator.function(party.function(), function.clone());
    }
    Ok(emulator.start().await?)
}

/// The timeout of an invocation, which takes long on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The pool of the callers holds 32 of the longest responses.
const IDLE_BYTES: u64 = 256 << 20;
