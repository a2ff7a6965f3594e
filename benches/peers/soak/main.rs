//! Half an hour of a function with eight workers: events and answers of any length, and of a
//! thousand calls ten that the handler refuses, one in which it panics and one whose
//! connection is cut. Each is answered once, and memory stays as it is.
//!
//! This process has the emulator, those who call, and the wire between the emulator and the
//! function; the function is in a process of its own. Who calls, the emulator and the function
//! keep accounts, which are compared in the end.
//!
//! `cargo run --release --bin soak -- [MINUTES]`. With `MALLOC_MMAP_THRESHOLD_=131072` and
//! `MALLOC_TRIM_THRESHOLD_=131072` in the environment, what is resident is what is in use: as glibc
//! comes, it is what its heap has grown to besides.

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
use presized_lambda_emulator::{Emulator, Function};
use presized_peers::child;
use presized_support::client::Error;
use presized_support::pattern;
use tokio::task::{JoinHandle, JoinSet, spawn_blocking};
use tokio::time::interval_at;

use crate::calls::{Calls, FUNCTION};
use crate::function::question;
use crate::report::{Account, Sample, Windows};
use crate::wire::Wire;

fn main() -> Result<(), Error> {
    pattern::prepare();
    if child::errand().is_some() {
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
                return Err("the function has ended".into());
            }
        }
    }
    watched.ends.store(true, Relaxed);
    let account = watch.await??;

    let resident = report::resident(Windows::of(time), &watched.samples());
    let stats = emulator.stats(FUNCTION)?;
    let bars = report::bars(&calls, wire.cuts(), stats, account, resident);
    println!("{} calls in {:.0?}, {:?}\n\n{bars}", calls.made(), start.elapsed(), stats);
    if bars.are_met() { Ok(()) } else { Err("the soak has failed".into()) }
}

/// The process of the function, as it is seen from outside.
#[derive(Default)]
struct Watched {
    samples: Mutex<Vec<Sample>>,
    ends: AtomicBool,
}

impl Watched {
    /// Starts the process, looks at its memory until there is an end, and then asks it for its
    /// account.
    fn start(
        self: &Arc<Self>,
        variables: &[(&str, &str)],
    ) -> Result<JoinHandle<Result<Account, Error>>, Error> {
        let mut function = child::Client::start(FUNCTION, variables)?;
        let watched = Arc::clone(self);
        let start = Instant::now();
        Ok(spawn_blocking(move || {
            while !watched.ends.load(Relaxed) {
                let [resident, peak] = function.ask_numbers(question::RESIDENT)?;
                let sample = Sample { at: start.elapsed(), resident, peak };
                watched.samples.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
                thread::sleep(BETWEEN_SAMPLES);
            }
            let account = function.ask(question::ACCOUNT)?;
            let numbers = account.split(' ').map(str::parse).collect::<Result<Vec<u64>, _>>()?;
            function.finish()?;
            match numbers[..] {
                [runs, twice, marks] => Ok(Account { runs, twice, marks }),
                _ => Err(format!("no account: {account}").into()),
            }
        }))
    }

    fn samples(&self) -> Vec<Sample> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

const WORKERS: usize = 8;

/// Of one call. On a machine that others use too it can take long.
const TIMEOUT: Duration = Duration::from_secs(120);

const MINUTE: Duration = Duration::from_secs(60);

const BETWEEN_SAMPLES: Duration = Duration::from_millis(500);
