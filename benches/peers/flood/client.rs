//! The process that calls: many at a time, each as soon as another has ended.

use std::sync::Arc;
use std::time::Duration;

use presized_lambda_invoke::Client;
use presized_peers::{api, child};
use presized_support::client::Error;
use presized_support::ledger::Ledger;
use presized_support::meter::{Side, pin};
use presized_support::pattern;
use tokio::runtime;
use tokio::task::JoinSet;

use crate::Errand;
use crate::answer;
use crate::server::FUNCTION;
use crate::tally::{End, Tally};

/// What a client can be asked for, when all calls have ended.
pub(crate) mod question {
    /// The letter of how it has ended, for each call.
    pub(crate) const ENDS: &str = "ends";
    /// The errors by kind.
    pub(crate) const ERRORS: &str = "errors";
    /// Bytes alive in the first tenth of the calls and in the last, then bytes that are
    /// resident in the first and in the last.
    pub(crate) const MEMORY: &str = "memory";
}

pub(crate) fn run(errand: Errand) -> Result<(), Error> {
    pin(Side::Client);
    pattern::prepare();
    let tally = Arc::new(Tally::of(errand));
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    Ledger::count_this_thread(true);
    runtime.block_on(flood(errand, &tally))?;
    Ledger::count_this_thread(false);
    child::answer(|asked| match asked {
        question::ENDS => Ok(tally.ends()),
        question::ERRORS => Ok(tally.errors()),
        question::MEMORY => Ok(child::numbers(tally.memory())),
        _ => Err(format!("{asked} is no question").into()),
    })
}

async fn flood(errand: Errand, tally: &Arc<Tally>) -> Result<(), Error> {
    let client = api::presized(errand.server).timeout(PATIENCE).build()?;
    let mut callers = JoinSet::new();
    for _ in 0..errand.in_flight {
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
        Ok(answer) if answer::is_right(&answer.payload, call) => End::Right,
        Ok(_) => End::Wrong,
        Err(error) => End::Failed(error),
    }
}

/// Longer than any call takes. A call that nothing ends would be one that is lost.
const PATIENCE: Duration = Duration::from_secs(20);
