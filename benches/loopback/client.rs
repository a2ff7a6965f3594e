//! The client process: one case, in memory of its own.

use std::time::Duration;

use presized_benches::child;
use presized_support::client::Error;
use presized_support::ledger::{Ledger, Mark};
use presized_support::meter::{Resident, Side, pin, thread_cpu};
use presized_support::pattern;
use presized_support::usage::minor_faults;
use tokio::runtime;

use crate::case::{Job, MIB};
use crate::connection::Connection;
use crate::memory::Memory;

/// The commands that a client replies to.
pub(crate) mod command {
    /// The figures of [`Memory`](super::Memory).
    pub(crate) const MEMORY: &str = "memory";
    /// CPU time of one body in seconds, and its page faults.
    pub(crate) const COST: &str = "cost";
}

pub(crate) fn run(job: &Job) -> Result<(), Error> {
    pin(Side::Client);
    pattern::prepare();
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let memory = runtime.block_on(memory(job))?;
    let mut connection = runtime.block_on(async {
        let mut connection = Connection::open(job).await?;
        cost(&mut connection, job).await?;
        Ok::<_, Error>(connection)
    })?;
    child::serve(|command| match command {
        command::MEMORY => Ok(child::numbers(memory)),
        command::COST => runtime.block_on(cost(&mut connection, job)).map(child::numbers),
        _ => Err(format!("unknown command: {command}").into()),
    })
}

/// The number of bodies for which allocations are counted. The first body is not among them,
/// because it warms up the connection.
const COUNTED: u64 = 4;

async fn memory(job: &Job) -> Result<Memory, Error> {
    let length = job.case.length;
    let resident = Resident::read().now;
    Ledger::count_this_thread(true);
    let opened = Mark::now();
    let mut connection = Connection::open(job).await?;
    let mut content = connection.read().await?;
    check(&content, length)?;
    let resident = Resident::read().peak.saturating_sub(resident);
    if job.case.way.settles() {
        // The first body teaches the length, and the second fills the pool. The peak is measured
        // from the third body on.
        connection.release(content);
        content = connection.read().await?;
        connection.release(content);
        Mark::now();
        content = connection.read().await?;
    }
    let first = opened.spent();
    for _ in 0..COUNTED {
        connection.release(content);
        content = connection.read().await?;
        check(&content, length)?;
    }
    let all = opened.spent();
    connection.close().await;
    let kept = opened.spent().kept;
    check(&content, length)?;
    drop(content);
    Ledger::count_this_thread(false);
    Ok(Memory {
        large: (all.large - first.large) as f64 / COUNTED as f64,
        allocated: (all.bytes - first.bytes) as f64 / COUNTED as f64,
        peak: all.peak as f64,
        resident: resident as f64,
        kept: kept as f64,
    })
}

/// Returns CPU time in seconds and page faults of one body. Its release is included and the check
/// of its bytes is not.
async fn cost(connection: &mut Connection, job: &Job) -> Result<[f64; 2], Error> {
    let length = job.case.length;
    let batch = job.case.batch();
    let mut cpu = 0.0;
    let mut faults = 0;
    let mut start = (thread_cpu(), minor_faults());
    let mut stop = |start: (Duration, u64)| {
        cpu += (thread_cpu() - start.0).as_secs_f64();
        faults += minor_faults() - start.1;
    };
    for body in 1..=batch {
        let content = connection.read().await?;
        // Reading the clock for each small body would cost more than its check.
        if length >= MIB || body == batch {
            stop(start);
            check(&content, length)?;
            start = (thread_cpu(), minor_faults());
        }
        connection.release(content);
    }
    stop(start);
    Ok([cpu / batch as f64, faults as f64 / batch as f64])
}

fn check(content: &[u8], length: u64) -> Result<(), Error> {
    if pattern::is_whole(content, length) {
        Ok(())
    } else {
        Err(format!("a body of {length} bytes has wrong content").into())
    }
}
