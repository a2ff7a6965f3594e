//! The process that calls: one case, in memory of its own.

use std::time::Duration;

use aws_sdk_lambda::Client;
use presized::BufferPool;
use presized_aws_sdk::Interceptor;
use presized_peers::server::PAYLOAD;
use presized_peers::{api, child, server};
use presized_support::client::Error;
use presized_support::ledger::{Ledger, Mark};
use presized_support::meter::{Resident, Side, pin, thread_cpu};
use presized_support::pattern;
use presized_support::usage::minor_faults;
use tokio::runtime;

use crate::case::{Case, Errand, KIB, Reader, SIX_MIB};

/// What a client can be asked for, all over one connection.
pub(crate) mod question {
    /// What a call allocates, the most alive at one time, what is alive between two calls, and
    /// the most that was resident, in bytes.
    pub(crate) const MEMORY: &str = "memory";
    /// CPU time of a call in seconds, and its page faults.
    pub(crate) const COST: &str = "cost";
}

pub(crate) fn run(errand: &Errand) -> Result<(), Error> {
    pin(Side::Client);
    pattern::prepare();
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let resident = Resident::read().now;
    Ledger::count_this_thread(true);
    let before = Ledger::live();
    let connection = Connection::open(errand);
    runtime.block_on(warm_up(&connection))?;
    let idle = Ledger::live() - before;
    Ledger::count_this_thread(false);
    child::answer(|asked| {
        runtime.block_on(async {
            match asked {
                question::MEMORY => memory(&connection, idle, resident).await,
                question::COST => cost(&connection).await,
                _ => Err(format!("{asked} is no question").into()),
            }
        })
    })
}

/// A client and the function that it calls.
struct Connection {
    client: Client,
    case: Case,
}

impl Connection {
    fn open(errand: &Errand) -> Self {
        let mut config = api::sdk_config(errand.server);
        let interceptor = Interceptor::new(SIX_MIB + KIB);
        match errand.case.reader {
            Reader::Plain => {}
            Reader::Interceptor => config = config.interceptor(interceptor),
            Reader::Pool => {
                config = config.interceptor(interceptor.pool(&BufferPool::new(128 << 20)))
            }
        }
        Self { client: Client::from_conf(config.build()), case: errand.case }
    }

    async fn call(&self) -> Result<Vec<u8>, Error> {
        let call = self.client.invoke().function_name(server::function(self.case.length));
        let output = call.payload(PAYLOAD.to_vec().into()).send().await?;
        Ok(output.payload.ok_or("no payload")?.into_inner())
    }

    /// Whether `payload` is what the function answers with, to the last byte.
    fn check(&self, payload: &[u8]) -> Result<(), Error> {
        if pattern::is_whole(payload, self.case.length) {
            Ok(())
        } else {
            Err(format!("wrong bytes in an answer of {}", self.case.length).into())
        }
    }
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

async fn memory(connection: &Connection, idle: u64, resident: u64) -> Result<String, Error> {
    Ledger::count_this_thread(true);
    let mark = Mark::now();
    for _ in 0..COUNTED {
        connection.check(&connection.call().await?)?;
    }
    let spent = mark.spent();
    Ledger::count_this_thread(false);
    let allocated = spent.bytes as f64 / COUNTED as f64;
    let resident = Resident::read().peak.saturating_sub(resident);
    let peak = idle + spent.peak;
    Ok(child::numbers([allocated, peak as f64, idle as f64, resident as f64]))
}

/// From a call to the release of its answer, without the check of a long one.
async fn cost(connection: &Connection) -> Result<String, Error> {
    let (mut cpu, mut faults) = (Duration::ZERO, 0);
    let mut start = (thread_cpu(), minor_faults());
    let mut stop = |start: (Duration, u64)| {
        cpu += thread_cpu() - start.0;
        faults += minor_faults() - start.1;
    };
    for _ in 0..connection.case.batch() {
        let payload = connection.call().await?;
        // Short answers are many, and reading the clock for each would weigh more than its check.
        if connection.case.length > KIB {
            stop(start);
            connection.check(&payload)?;
            start = (thread_cpu(), minor_faults());
        } else {
            connection.check(&payload)?;
        }
    }
    stop(start);
    let calls = connection.case.batch() as f64;
    Ok(child::numbers([cpu.as_secs_f64() / calls, faults as f64 / calls]))
}
