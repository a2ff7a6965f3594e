//! The process that calls: one case, in memory of its own.

use std::time::{Duration, Instant};

use presized_peers::child;
use presized_support::client::Error;
use presized_support::ledger::{Ledger, Mark};
use presized_support::meter::{Side, pin, thread_cpu};
use presized_support::pattern;
use presized_support::usage::minor_faults;
use tokio::runtime;
use tokio::task::JoinSet;

use crate::case::{Case, Errand, MIB};
use crate::connection::Connection;

/// What a client can be asked for, all over one connection except for the last.
pub(crate) mod question {
    /// What a call allocates: blocks, large blocks and bytes; then the most bytes alive at
    /// one time, and those between two calls.
    pub(crate) const MEMORY: &str = "memory";
    /// CPU time of a call in seconds, and its page faults.
    pub(crate) const COST: &str = "cost";
    /// The median and the 99th percentile of the time from a call to its answer, in
    /// seconds, with [`IN_FLIGHT`](super::IN_FLIGHT) calls at a time.
    pub(crate) const LATENCY: &str = "latency";
}

/// Calls that are open at the same time while latency is measured.
pub(crate) const IN_FLIGHT: u64 = 64;

pub(crate) fn run(errand: &Errand) -> Result<(), Error> {
    pin(Side::Client);
    pattern::prepare();
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    Ledger::count_this_thread(true);
    let before = Ledger::live();
    let connection = Connection::open(errand)?;
    runtime.block_on(warm_up(&connection))?;
    let idle = Ledger::live() - before;
    Ledger::count_this_thread(false);
    child::answer(|asked| {
        runtime.block_on(async {
            match asked {
                question::MEMORY => memory(&connection, idle).await,
                question::COST => cost(&connection, errand.case).await,
                question::LATENCY => latency(&connection, errand.case).await,
                _ => Err(format!("{asked} is no question").into()),
            }
        })
    })
}

/// The first call connects, the first few fill the pool and let hyper's read buffer grow,
/// and some more until the allocator has what all of that takes.
async fn warm_up(connection: &Connection) -> Result<(), Error> {
    for _ in 0..40 {
        connection.check(&connection.call().await?)?;
    }
    Ok(())
}

/// Calls for which allocations are counted.
const COUNTED: u64 = 20;

async fn memory(connection: &Connection, idle: u64) -> Result<String, Error> {
    Ledger::count_this_thread(true);
    let mark = Mark::now();
    for _ in 0..COUNTED {
        connection.check(&connection.call().await?)?;
    }
    let spent = mark.spent();
    Ledger::count_this_thread(false);
    let calls = COUNTED as f64;
    let [allocations, large, allocated] =
        [spent.allocations, spent.large, spent.bytes].map(|count| count as f64 / calls);
    let peak = idle + spent.peak;
    Ok(child::numbers([allocations, large, allocated, peak as f64, idle as f64]))
}

/// From a call to the release of its answer, without the check of a long one.
async fn cost(connection: &Connection, case: Case) -> Result<String, Error> {
    let (mut cpu, mut faults) = (Duration::ZERO, 0);
    let mut start = (thread_cpu(), minor_faults());
    let mut stop = |start: (Duration, u64)| {
        cpu += thread_cpu() - start.0;
        faults += minor_faults() - start.1;
    };
    for _ in 0..case.batch() {
        let payload = connection.call().await?;
        // Short answers are many, and reading the clock for each would weigh more than its check.
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
    let mut callers = JoinSet::new();
    for _ in 0..IN_FLIGHT {
        let connection = connection.clone();
        callers.spawn(async move {
            let mut times = Vec::new();
            for _ in 0..case.in_turn() {
                let start = Instant::now();
                let payload = connection.call().await?;
                times.push(start.elapsed().as_secs_f64());
                connection.check(&payload)?;
            }
            Ok::<_, Error>(times)
        });
    }
    let mut times = Vec::new();
    while let Some(of_caller) = callers.join_next().await {
        times.extend(of_caller??);
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(child::numbers([50, 99].map(|percent| times[(times.len() - 1) * percent / 100])))
}
