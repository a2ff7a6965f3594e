//! A running function, and its callers.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::Full;
use presized::BufferPool;
use presized_benches::child;
use presized_lambda_emulator::Emulator;
use presized_peers::caller::Caller;
use presized_support::client::Error;
use tokio::task::JoinSet;

use crate::case::Case;
use crate::function::{Job, command};

/// The function process of one case.
pub(crate) struct Process {
    function: child::Client,
    callers: Vec<Caller<Full<Bytes>>>,
    case: Case,
    calls: Arc<Calls>,
}

/// The event and the response of each call.
struct Calls {
    event: Bytes,
    response: Bytes,
}

/// The cost of a batch of calls.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// CPU time of an invocation, in seconds.
    pub(crate) cpu: f64,
    /// Page faults of an invocation.
    pub(crate) faults: f64,
    /// The time from each call to its response, in seconds.
    pub(crate) times: Vec<f64>,
}

/// The blocks and bytes that an invocation allocates.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allocated {
    pub(crate) blocks: f64,
    pub(crate) bytes: f64,
}

impl Process {
    /// Starts the process and connects the callers.
    pub(crate) async fn start(
        emulator: &Emulator,
        pool: &BufferPool,
        job: Job,
    ) -> Result<Self, Error> {
        let case = job.case;
        let name = case.party.function();
        let workers = case.cell.workers;
        let mut variables = vec![
            ("AWS_LAMBDA_RUNTIME_API", emulator.runtime_api(name)?),
            ("AWS_LAMBDA_FUNCTION_NAME", name.to_owned()),
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1769".to_owned()),
            ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST".to_owned()),
        ];
        if workers > 1 {
            variables.push(("AWS_LAMBDA_MAX_CONCURRENCY", workers.to_string()));
        }
        let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, &**value)).collect();
        let function = child::Client::start(&serde_json::to_string(&job)?, &variables)?;
        let mut callers = Vec::new();
        for _ in 0..workers {
            callers.push(Caller::connect(&emulator.url(), pool).await?);
        }
        let calls = Calls { event: case.cell.work.event(), response: case.cell.work.response() };
        Ok(Self { function, callers, case, calls: Arc::new(calls) })
    }

    /// Makes at least this many calls, by all callers at the same time, and returns their times.
    pub(crate) async fn call(&mut self, calls: usize) -> Result<Vec<f64>, Error> {
        let each = calls.div_ceil(self.callers.len());
        let mut calling = JoinSet::new();
        for mut caller in self.callers.drain(..) {
            let (calls, name) = (Arc::clone(&self.calls), self.case.party.function());
            calling.spawn(async move {
                let mut times = Vec::with_capacity(each);
                for _ in 0..each {
                    let start = Instant::now();
                    let response = caller.call(name, None, calls.event.clone().into()).await?;
                    times.push(start.elapsed().as_secs_f64());
                    if response.payload != calls.response {
                        let begin = &response.payload[..response.payload.len().min(200)];
                        let begin = String::from_utf8_lossy(begin);
                        return Err(format!("{name} responded with wrong content: {begin}").into());
                    }
                }
                Ok::<_, Error>((caller, times))
            });
        }
        let mut all = Vec::new();
        while let Some(ended) = calling.join_next().await {
            let (caller, times) = ended??;
            self.callers.push(caller);
            all.extend(times);
        }
        Ok(all)
    }

    /// Makes calls and returns their cost.
    pub(crate) async fn batch(&mut self, calls: usize) -> Result<Batch, Error> {
        let before: [f64; 2] = self.function.ask_numbers(command::COST)?;
        let times = self.call(calls).await?;
        let after: [f64; 2] = self.function.ask_numbers(command::COST)?;
        let [cpu, faults] = [0, 1].map(|index| (after[index] - before[index]) / times.len() as f64);
        Ok(Batch { cpu, faults, times })
    }

    /// Makes calls and returns their allocations.
    pub(crate) async fn allocated(&mut self, calls: usize) -> Result<Allocated, Error> {
        let _: [f64; 2] = self.function.ask_numbers(command::ALLOCATED)?;
        let calls = self.call(calls).await?.len() as f64;
        let [blocks, bytes] = self.function.ask_numbers(command::ALLOCATED)?;
        Ok(Allocated { blocks: blocks / calls, bytes: bytes / calls })
    }

    /// Returns the bytes resident now, and the most so far.
    pub(crate) fn resident(&mut self) -> Result<[f64; 2], Error> {
        self.function.ask_numbers(command::RESIDENT)
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.function.id()
    }

    pub(crate) fn finish(self) -> Result<(), Error> {
        self.function.finish()
    }
}
