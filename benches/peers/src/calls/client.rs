//! The client process: one case, in memory of its own.

use std::time::{Duration, Instant};

use presized_benches::child;
use presized_support::client::Error;
use presized_support::ledger::{Ledger, Mark};
use presized_support::meter::{Resident, Side, pin, thread_cpu};
use presized_support::pattern;
use presized_support::usage::minor_faults;
use tokio::runtime;
use tokio::task::JoinSet;

use super::MIB;
use super::case::{Case, Job};
use super::connection::Connection;

/// The commands that a client replies to. All but the last use one connection.
pub(super) mod command {
    /// The figures of [`Memory`](super::super::Memory).
    pub(in super::super) const MEMORY: &str = "memory";
    /// CPU time of one call in seconds, and its page faults.
    pub(in super::super) const COST: &str = "cost";
    /// The median and the 99th percentile of the latency in seconds, with
    /// [`IN_FLIGHT`](super::IN_FLIGHT) calls at a time.
    pub(in super::super) const LATENCY: &str = "latency";
}

/// The number of calls in flight while latency is measured.
pub const IN_FLIGHT: u64 = 64;

/// Runs a client process. The program must have the counting allocator.
pub fn run(job: &str) -> Result<(), Error> {
    let job: Job = serde_json::from_str(job)?;
    pin(Side::Client);
    pattern::prepare();
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let resident = Resident::read().now;
    Ledger::count_this_thread(true);
    let before = Ledger::live();
    let connection = Connection::open(&job)?;
    runtime.block_on(warm_up(&connection))?;
    let idle = Ledger::live() - before;
    Ledger::count_this_thread(false);
    child::serve(|command| {
        runtime.block_on(async {
            match command {
                command::MEMORY => memory(&connection, idle, resident).await,
                command::COST => cost(&connection, job.case).await,
                command::LATENCY => latency(&connection, job.case).await,
                _ => Err(format!("unknown command: {command}").into()),
            }
        })
    })
}

/// Makes the first calls. They connect, fill the pool, and let the read buffer of hyper and the
/// allocator grow to their final size.
async fn warm_up(connection: &Connection) -> Result<(), Error> {
    for _ in 0..40 {
        connection.check(&connection.call().await?)?;
    }
    Ok(())
}

/// The number of calls for which allocations are counted.
const COUNTED: u64 = 20;

async fn memory(connection: &Connection, idle: u64, resident: u64) -> Result<String, Error> {
    Ledger::count_this_thread(true);
    let mark = Mark::now();
    for _ in 0..COUNTED {
        connection.check(&connection.call().await?)?;
    }
    let spent = mark.spent();
    Ledger::count_this_thread(false);
    let [allocations, large, allocated] =
        [spent.allocations, spent.large, spent.bytes].map(|count| count as f64 / COUNTED as f64);
    let [peak, idle, resident] =
        [idle + spent.peak, idle, Resident::read().peak.saturating_sub(resident)]
            .map(|bytes| bytes as f64);
    Ok(child::numbers([allocations, large, allocated, peak, idle, resident]))
}

/// Measures from the call to the release of its response, without the check of a long one.
async fn cost(connection: &Connection, case: Case) -> Result<String, Error> {
    let (mut cpu, mut faults) = (Duration::ZERO, 0);
    let mut start = (thread_cpu(), minor_faults());
    let mut stop = |start: (Duration, u64)| {
        cpu += thread_cpu() - start.0;
        faults += minor_faults() - start.1;
    };
    for _ in 0..case.batch() {
        let payload = connection.call().await?;
        // Reading the clock for each short response would cost more than its check.
        if case.length >= MIB {
            stop(start);
            connection.check(&payload)?;
            start = (thread_cpu(), minor_faults());
        } else {
            connection.check(&payload)?;
        }
    }
    stop(start);
    let calls = case.batch() as f64;
    Ok(child::numbers([cpu.as_secs_f64() / calls, faults as f64 / calls]))
}

async fn latency(connection: &Connection, case: Case) -> Result<String, Error> {
    let mut tasks = JoinSet::new();
    for _ in 0..IN_FLIGHT {
        let connection = connection.clone();
        tasks.spawn(async move {
            let mut times = Vec::new();
            for _ in 0..case.calls_of_task() {
                let start = Instant::now();
                let payload = connection.call().await?;
                times.push(start.elapsed().as_secs_f64());
                connection.check(&payload)?;
            }
            Ok::<_, Error>(times)
        });
    }
    let mut times = Vec::new();
    while let Some(of_task) = tasks.join_next().await {
        times.extend(of_task??);
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(child::numbers([50, 99].map(|percent| times[(times.len() - 1) * percent / 100])))
}
