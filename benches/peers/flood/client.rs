//! The client process, which keeps a fixed number of calls in flight.

use std::sync::Arc;
use std::time::Duration;

use presized_benches::child;
use presized_lambda_invoke::Client;
use presized_peers::api;
use presized_support::client::Error;
use presized_support::ledger::Ledger;
use presized_support::meter::{Side, pin};
use presized_support::pattern;
use tokio::runtime;
use tokio::task::JoinSet;

use crate::Job;
use crate::response;
use crate::server::FUNCTION;
use crate::tally::{End, Tally};

/// The commands that the client replies to, after all calls have ended.
pub(crate) mod command {
    /// A letter for each call, which says how it ended.
    pub(crate) const ENDS: &str = "ends";
    /// The number of errors of each kind.
    pub(crate) const ERRORS: &str = "errors";
    /// Bytes alive in the first and in the last tenth of the calls, then bytes resident in the
    /// first and in the last tenth.
    pub(crate) const MEMORY: &str = "memory";
}

pub(crate) fn run(job: &Job) -> Result<(), Error> {
    pin(Side::Client);
    pattern::prepare();
    let tally = Arc::new(Tally::of(job));
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    Ledger::count_this_thread(true);
    runtime.block_on(flood(job, &tally))?;
    Ledger::count_this_thread(false);
    child::serve(|command| match command {
        command::ENDS => Ok(tally.ends()),
        command::ERRORS => Ok(tally.errors()),
        command::MEMORY => Ok(child::numbers(tally.memory())),
        _ => Err(format!("unknown command: {command}").into()),
    })
}

async fn flood(job: &Job, tally: &Arc<Tally>) -> Result<(), Error> {
    let mut settings = api::presized(&job.server).timeout(TIMEOUT);
    if let Some(proxy) = &job.proxy {
        settings = settings.proxy(proxy);
    }
    let client = settings.build()?;
    let mut callers = JoinSet::new();
    for _ in 0..job.in_flight {
        let (client, tally) = (client.clone(), Arc::clone(tally));
        callers.spawn(async move {
            while let Some(call) = tally.next_call() {
                let end = invoke(&client, call).await;
                tally.end(call, end);
            }
        });
    }
    while let Some(caller) = callers.join_next().await {
        caller?;
    }
    Ok(())
}

async fn invoke(client: &Client, call: u32) -> End {
    match client.invoke(FUNCTION).payload(call.to_string()).send().await {
        Ok(response) if response::is_right(&response.payload, call) => End::Right,
        Ok(_) => End::Wrong,
        Err(error) => End::Failed(error),
    }
}

/// Longer than any call takes. A call that times out is a lost call.
const TIMEOUT: Duration = Duration::from_secs(20);
