//! Half an hour of a function with eight workers, and events and responses of any length. Of a
//! thousand calls, the handler refuses ten and panics in one, and one loses its connection. Each
//! call must have one response, and memory must not grow.
//!
//! This process runs the emulator, the callers, and the wire between the emulator and the function.
//! The function is a process of its own. The callers, the emulator and the function keep records,
//! which are compared in the end.
//!
//! `cargo run --release --bin soak -- [MINUTES]`. With `MALLOC_MMAP_THRESHOLD_=131072` and
//! `MALLOC_TRIM_THRESHOLD_=131072`, resident memory is memory in use. Without them, it includes the
//! free memory that the heap of glibc keeps.

mod calls;
mod function;
mod plan;
mod report;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use presized::BufferPool;
use presized_benches::child;
use presized_lambda_emulator::{Emulator, Function};
use presized_support::client::Error;
use presized_support::pattern;
use tokio::task::{JoinHandle, JoinSet, spawn_blocking};
use tokio::time::interval_at;

use crate::calls::{Calls, FUNCTION};
use crate::function::command;
use crate::report::{Account, Sample, Windows};
use crate::wire::Wire;

fn main() -> Result<(), Error> {
    pattern::prepare();
    if child::job().is_some() {
        return function::run();
    }
    let minutes = std::env::args().nth(1).map_or(Ok(30.0), |minutes| minutes.parse())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(soak(Duration::try_from_secs_f64(60.0 * minutes)?))
}

async fn soak(time: Duration) -> Result<(), Error> {
    let settings = Function::new().concurrency(WORKERS).timeout(TIMEOUT).init_timeout(TIMEOUT);
    let emulator = Emulator::builder().function(FUNCTION, settings).start().await?;
    let (runtime_api, wire) = Wire::start(emulator.runtime_api(FUNCTION)?).await?;
    let watched = Arc::new(Watched::default());
    let mut watch = watched.start(&[
        ("AWS_LAMBDA_RUNTIME_API", &runtime_api.to_string()),
        ("AWS_LAMBDA_MAX_CONCURRENCY", &WORKERS.to_string()),
    ])?;

    let start = Instant::now();
    let calls = Arc::new(Calls::default());
    let pool = BufferPool::new(64 << 20);
    let mut callers = JoinSet::new();
    for _ in 0..WORKERS {
        let (calls, url, pool) = (Arc::clone(&calls), emulator.url(), pool.clone());
        callers.spawn(async move { calls.make(&url, &pool, start + time).await });
    }
    report::print_header();
    let mut minutes = interval_at((start + MINUTE).into(), MINUTE);
    let mut minute = 0;
    loop {
        tokio::select! {
            caller = callers.join_next() => match caller {
                Some(ended) => ended?,
                None => break,
            },
            _ = minutes.tick() => {
                minute += 1;
                report::print_minute(minute, &calls, &watched.samples());
            }
            ended = &mut watch => {
                ended??;
                return Err("the function ended before the callers".into());
            }
        }
    }
    watched.ends.store(true, Relaxed);
    let account = watch.await??;

    let resident = report::resident(Windows::of(time), &watched.samples());
    let stats = emulator.stats(FUNCTION)?;
    let bars = report::bars(&calls, wire.cuts(), stats, account, resident);
    println!("{} calls in {:.0?}, {:?}\n\n{bars}", calls.made(), start.elapsed(), stats);
    if bars.are_met() { Ok(()) } else { Err("the soak test failed".into()) }
}

/// The function process, seen from outside.
#[derive(Default)]
struct Watched {
    samples: Mutex<Vec<Sample>>,
    ends: AtomicBool,
}

impl Watched {
    /// Starts the process, samples its memory until the end, and then asks for its record.
    fn start(
        self: &Arc<Self>,
        variables: &[(&str, &str)],
    ) -> Result<JoinHandle<Result<Account, Error>>, Error> {
        let mut function = child::Client::start(FUNCTION, variables)?;
        let watched = Arc::clone(self);
        let start = Instant::now();
        Ok(spawn_blocking(move || {
            while !watched.ends.load(Relaxed) {
                let [resident, peak] = function.ask_numbers(command::RESIDENT)?;
                let sample = Sample { at: start.elapsed(), resident, peak };
                watched.samples.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
                thread::sleep(BETWEEN_SAMPLES);
            }
            let account = function.ask(command::ACCOUNT)?;
            let numbers = account.split(' ').map(str::parse).collect::<Result<Vec<u64>, _>>()?;
            function.finish()?;
            match numbers[..] {
                [runs, twice, marks] => Ok(Account { runs, twice, marks }),
                _ => {
                    Err(format!("the record of the function is not three numbers: {account}")
                        .into())
                }
            }
        }))
    }

    fn samples(&self) -> Vec<Sample> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

const WORKERS: usize = 8;

/// The timeout of one call, which takes long on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

const MINUTE: Duration = Duration::from_secs(60);

const BETWEEN_SAMPLES: Duration = Duration::from_millis(500);
