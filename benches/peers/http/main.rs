//! HTTP functions over loopback: `lambda_http` and presized, each with its defaults and the same router.
//!
//! This process runs the emulator and the callers. Each adapter runs in a function process of its own,
//! and the processes take turns.
//!
//! `cargo bench --bench http` measures all cells.

mod event;
mod function;
mod report;

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use presized::BufferPool;
use presized_benches::{child, record};
use presized_lambda_emulator::{Emulator, Function};
use presized_peers::caller::Caller;
use presized_support::bars::is_trial;
use presized_support::client::Error;
use presized_support::meter::{Side, pin};
use serde::{Deserialize, Serialize};

use crate::event::Source;
use crate::function::Job;

fn main() -> Result<(), Error> {
    if let Some(job) = child::job() {
        return function::serve(serde_json::from_str(&job)?);
    }
    pin(Side::Server);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut outcomes = Vec::new();
        for cell in cells() {
            outcomes.push(take_turns(cell).await?);
        }
        report::print(&outcomes);
        record::rows("http", &report::rows(&outcomes))?;
        Ok(())
    })
}

/// The adapter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Party {
    Peer,
    Presized,
}

impl Party {
    pub(crate) const ALL: [Self; 2] = [Self::Peer, Self::Presized];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Peer => "lambda_http",
            Self::Presized => "presized",
        }
    }
}

/// The work that both parties do in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) source: Source,
    /// The length of the event in bytes.
    pub(crate) bytes: usize,
    /// The function has a current-thread runtime, and not that of `#[tokio::main]`.
    pub(crate) current_thread: bool,
}

/// The CPU seconds of a call in each round, by party.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) cell: Cell,
    pub(crate) cpu: [Vec<f64>; 2],
}

fn cells() -> Vec<Cell> {
    let cell = |source, bytes, current_thread| Cell { source, bytes, current_thread };
    if is_trial() {
        return vec![cell(Source::HttpApi, KIB, true), cell(Source::RestApi, 2 * KIB, false)];
    }
    let mut cells = Vec::new();
    for (source, bytes) in [
        (Source::HttpApi, KIB),
        // Its headers are there twice, so 1 KiB is too little for a typical request.
        (Source::RestApi, 2 * KIB),
        (Source::HttpApi, MIB),
    ] {
        cells.extend([true, false].map(|current_thread| cell(source, bytes, current_thread)));
    }
    cells
}

/// Measures both parties with the same events. They take turns.
async fn take_turns(cell: Cell) -> Result<Outcome, Error> {
    let function = Function::new().timeout(TIMEOUT).init_timeout(TIMEOUT);
    let mut emulator = Emulator::builder();
    for party in Party::ALL {
        emulator = emulator.function(party.name(), function.clone());
    }
    let emulator = emulator.start().await?;
    let pool = BufferPool::new(IDLE_BYTES);
    let mut callers = Vec::new();
    for party in Party::ALL {
        let mut caller = Process::start(&emulator, &pool, Job { party, cell }).await?;
        // The first calls connect and let pools, buffers and the allocator grow.
        caller.call(cell.calls()).await?;
        callers.push(caller);
    }
    let mut cpu = [Vec::new(), Vec::new()];
    for _ in 0..if is_trial() { 1 } else { ROUNDS } {
        for (caller, cpu) in callers.iter_mut().zip(&mut cpu) {
            cpu.push(caller.call(cell.calls()).await?);
        }
    }
    for caller in callers {
        caller.function.finish()?;
    }
    Ok(Outcome { cell, cpu })
}

impl Cell {
    /// The number of calls for one reading of the clock.
    fn calls(self) -> usize {
        if is_trial() { 10 } else { (64 * MIB / self.bytes).min(1500) }
    }
}

/// A function process and its caller.
struct Process {
    function: child::Client,
    caller: Caller<Full<Bytes>>,
    party: Party,
    event: Bytes,
    response: Bytes,
}

impl Process {
    async fn start(emulator: &Emulator, pool: &BufferPool, job: Job) -> Result<Self, Error> {
        let name = job.party.name();
        let api = emulator.runtime_api(name)?;
        let variables = [
            ("AWS_LAMBDA_RUNTIME_API", &*api),
            ("AWS_LAMBDA_FUNCTION_NAME", name),
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1769"),
            ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
        ];
        let function = child::Client::start(&serde_json::to_string(&job)?, &variables)?;
        let caller = Caller::connect(&emulator.url(), pool).await?;
        let (event, response) = job.cell.source.call(job.cell.bytes);
        Ok(Self { function, caller, party: job.party, event, response })
    }

    /// Makes calls and returns the CPU seconds of each.
    async fn call(&mut self, calls: usize) -> Result<f64, Error> {
        let [before]: [f64; 1] = self.function.ask_numbers(function::COST)?;
        for _ in 0..calls {
            let event = self.event.clone().into();
            let response = self.caller.call(self.party.name(), None, event).await?;
            event::check(&response.payload, &self.response)?;
        }
        let [after]: [f64; 1] = self.function.ask_numbers(function::COST)?;
        Ok((after - before) / calls as f64)
    }
}

const ROUNDS: usize = 15;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// The timeout of an invocation, which takes long on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

const IDLE_BYTES: u64 = 64 << 20;
