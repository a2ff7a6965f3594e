//! The process that reads: one case, in memory of its own.

use std::io::{BufRead, Write};
use std::time::Duration;

use presized_support::client::Error;
use presized_support::ledger::{Ledger, Mark};
use presized_support::meter::{Resident, Side, pin, thread_cpu};
use presized_support::pattern;
use presized_support::usage::minor_faults;

use crate::case::{Errand, MIB, Memory};
use crate::connection::Connection;

/// Prints what the memory of one body comes to. After that, for every line of input,
/// reads bodies and prints the CPU time, in seconds, and the page faults of each.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run(errand: Errand) -> Result<(), Error> {
    pin(Side::Client);
    pattern::prepare();
    let mut output = std::io::stdout();
    writeln!(output, "{}", memory(&errand).await?)?;
    let mut connection = Connection::open(&errand).await?;
    clock(&mut connection, &errand).await?;
    for line in std::io::stdin().lock().lines() {
        line?;
        let (cpu, faults) = clock(&mut connection, &errand).await?;
        writeln!(output, "{cpu} {faults}")?;
    }
    Ok(())
}

/// Bodies for which allocations are counted, after the first, which warms up the connection.
const COUNTED: u64 = 4;

async fn memory(errand: &Errand) -> Result<Memory, Error> {
    let length = errand.case.length;
    let resident = Resident::read().now;
    Ledger::count_this_thread(true);
    let opened = Mark::now();
    let mut connection = Connection::open(errand).await?;
    let mut content = connection.read().await?;
    check(&content, length)?;
    let resident = Resident::read().peak.saturating_sub(resident);
    if errand.case.reader.settles() {
        // The first body teaches the length, the second fills the pool with it; the peak
        // that is asked for is that of the bodies after.
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

/// CPU time in seconds and page faults of one body, with its release and without its check.
async fn clock(connection: &mut Connection, errand: &Errand) -> Result<(f64, f64), Error> {
    let length = errand.case.length;
    let batch = errand.case.batch();
    let mut cpu = 0.0;
    let mut faults = 0;
    let mut start = (thread_cpu(), minor_faults());
    let mut stop = |start: (Duration, u64)| {
        cpu += (thread_cpu() - start.0).as_secs_f64();
        faults += minor_faults() - start.1;
    };
    for body in 1..=batch {
        let content = connection.read().await?;
        // Small bodies are many, and reading the clock for each would weigh on them.
        if length >= MIB || body == batch {
            stop(start);
            check(&content, length)?;
            start = (thread_cpu(), minor_faults());
        }
        connection.release(content);
    }
    stop(start);
    Ok((cpu / batch as f64, faults as f64 / batch as f64))
}

fn check(content: &[u8], length: u64) -> Result<(), Error> {
    if pattern::is_whole(content, length) {
        Ok(())
    } else {
        Err(format!("wrong bytes in a body of {length}").into())
    }
}
