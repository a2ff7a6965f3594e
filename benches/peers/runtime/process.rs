//! A function that runs, and those who call it.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::Full;
use presized::BufferPool;
use presized_lambda_emulator::Emulator;
use presized_peers::caller::Caller;
use presized_peers::child;
use presized_support::client::Error;
use tokio::task::JoinSet;

use crate::case::Case;
use crate::function::{Errand, question};

/// The process of one case.
pub(crate) struct Process {
    function: child::Client,
    callers: Vec<Caller<Full<Bytes>>>,
    case: Case,
    calls: Arc<Calls>,
}

/// What every call sends and gets.
struct Calls {
    event: Bytes,
    answer: Bytes,
}

/// What a batch of calls took.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// CPU time of an invocation, in seconds.
    pub(crate) cpu: f64,
    /// Page faults of an invocation.
    pub(crate) faults: f64,
    /// From each call to its answer, in seconds.
    pub(crate) times: Vec<f64>,
}

/// Blocks and bytes that are allocated for an invocation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allocated {
    pub(crate) blocks: f64,
    pub(crate) bytes: f64,
}

impl Process {
    /// Starts it, with nothing to do yet.
    pub(crate) async fn start(
        emulator: &Emulator,
        pool: &BufferPool,
        errand: Errand,
    ) -> Result<Self, Error> {
        let case = errand.case;
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
        let function = child::Client::start(&serde_json::to_string(&errand)?, &variables)?;
        let mut callers = Vec::new();
        for _ in 0..workers {
            callers.push(Caller::connect(&emulator.url(), pool).await?);
        }
        let calls = Calls { event: case.cell.work.event(), answer: case.cell.work.answer() };
        Ok(Self { function, callers, case, calls: Arc::new(calls) })
    }

    /// Calls as often as one wants to, by all callers at the same time.
    pub(crate) async fn call(&mut self, calls: usize) -> Result<Vec<f64>, Error> {
        let each = calls.div_ceil(self.callers.len());
        let mut calling = JoinSet::new();
        for mut caller in self.callers.drain(..) {
            let (calls, name) = (Arc::clone(&self.calls), self.case.party.function());
            calling.spawn(async move {
                let mut times = Vec::with_capacity(each);
                for _ in 0..each {
                    let start = Instant::now();
                    let answer = caller.call(name, None, calls.event.clone().into()).await?;
                    times.push(start.elapsed().as_secs_f64());
                    if answer.payload != calls.answer {
                        let begin = &answer.payload[..answer.payload.len().min(200)];
                        let begin = String::from_utf8_lossy(begin);
                        return Err(format!("wrong bytes from {name}: {begin}").into());
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

    /// The same for one reading of the clock.
    pub(crate) async fn batch(&mut self, calls: usize) -> Result<Batch, Error> {
        let before: [f64; 2] = self.function.ask_numbers(question::COST)?;
        let times = self.call(calls).await?;
        let after: [f64; 2] = self.function.ask_numbers(question::COST)?;
        let [cpu, faults] = [0, 1].map(|index| (after[index] - before[index]) / times.len() as f64);
        Ok(Batch { cpu, faults, times })
    }

    /// The same, to see what is allocated.
    pub(crate) async fn allocated(&mut self, calls: usize) -> Result<Allocated, Error> {
        let _: [f64; 2] = self.function.ask_numbers(question::ALLOCATED)?;
        let calls = self.call(calls).await?.len() as f64;
        let [blocks, bytes] = self.function.ask_numbers(question::ALLOCATED)?;
        Ok(Allocated { blocks: blocks / calls, bytes: bytes / calls })
    }

    /// Bytes resident, and the most that were.
    pub(crate) fn resident(&mut self) -> Result<[f64; 2], Error> {
        self.function.ask_numbers(question::RESIDENT)
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.function.id()
    }

    pub(crate) fn finish(self) -> Result<(), Error> {
        self.function.finish()
    }
}
