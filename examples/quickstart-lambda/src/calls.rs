//! The memory of a caller, call by call.

use presized_lambda_emulator::Emulator;
use presized_support::ledger::{Ledger, Mark};

use crate::Error;
use crate::measure::settle;
use crate::ways::Way;

/// The number of calls in each way.
pub(crate) const CALLS: usize = 20;

/// The memory of a caller that calls several times in one way.
pub(crate) struct Calls {
    pub(crate) way: Way,
    pub(crate) samples: Vec<Sample>,
}

/// The allocated memory of one call, in bytes above the time before the connection.
pub(crate) struct Sample {
    /// The most during the call.
    pub(crate) peak: u64,
    /// The memory after the response was dropped.
    pub(crate) after: u64,
}

impl Calls {
    /// Calls for responses of `size` bytes on this thread.
    pub(crate) async fn record(emulator: &Emulator, way: Way, size: usize) -> Result<Self, Error> {
        let caller = way.caller(emulator)?;
        let mut samples = Vec::with_capacity(CALLS);
        Ledger::count_this_thread(true);
        let start = Ledger::live();
        for _ in 0..CALLS {
            let before = Ledger::live().saturating_sub(start);
            let mark = Mark::now();
            let response = caller.call(size).await?;
            let peak = before + mark.spent().peak;
            response.check(size)?;
            drop(response);
            samples.push(Sample { peak, after: Ledger::live().saturating_sub(start) });
        }
        drop(caller);
        settle().await;
        Ledger::count_this_thread(false);
        Ok(Self { way, samples })
    }
}
