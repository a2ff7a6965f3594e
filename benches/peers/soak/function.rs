//! The process of the function, and the account that it keeps.

use std::io::Write;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use bytes::Bytes;
use presized::{BufferPool, LengthHistory};
use presized_lambda_runtime::{Context, ErrorReport, FunctionResponse, Handler, Runtime};
use presized_peers::child;
use presized_support::client::Error;
use presized_support::meter::Resident;
use presized_support::pattern::{self, Pattern};
use tokio::sync::oneshot;

use crate::plan::{Fate, Plan, REFUSED, SIX_MIB, mark};

/// What the process can be asked for.
pub(crate) mod question {
    /// Its resident bytes, and the most that they were.
    pub(crate) const RESIDENT: &str = "resident";
    /// How many calls have run, how many of them before, and the sum of their marks.
    pub(crate) const ACCOUNT: &str = "account";
}

/// Serves until nobody has a question any more.
pub(crate) fn run() -> Result<(), Error> {
    // Of each panic the caller is told, and that is what is looked at.
    panic::set_hook(Box::new(|_| {}));
    let account = Arc::new(Account::new());
    let function = Function::new(Arc::clone(&account));
    let (end, ended) = oneshot::channel();
    thread::Builder::new().name("questions".to_owned()).spawn(move || {
        let asked = child::answer(|asked| match asked {
            question::RESIDENT => {
                let Resident { now, peak } = Resident::read();
                Ok(child::numbers([now as f64, peak as f64]))
            }
            question::ACCOUNT => Ok(account.to_string()),
            _ => Err(format!("{asked} is no question").into()),
        });
        // Whoever waits for it has ended otherwise.
        let _ = end.send(());
        asked.map_err(|error| error.to_string())
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let shutdown = async {
        let _ = ended.await;
    };
    Ok(runtime.block_on(Runtime::new(function).shutdown(shutdown).run())?)
}

struct Function {
    account: Arc<Account>,
    /// What every answer is the beginning of.
    content: Bytes,
    pool: BufferPool,
    lengths: LengthHistory,
}

impl Function {
    fn new(account: Arc<Account>) -> Self {
        let mut content = Vec::with_capacity(SIX_MIB as usize);
        let mut frames = Pattern::of(SIX_MIB);
        while let Some(frame) = frames.next_frame() {
            content.extend_from_slice(&frame);
        }
        let (pool, lengths) = (BufferPool::new(0), LengthHistory::new());
        Self { account, content: content.into(), pool, lengths }
    }

    /// One answer is memory that is there, the next is written to the pool as JSON would be.
    fn answer(&self, call: u64, length: u64) -> Result<Bytes, ErrorReport> {
        let content = self.content.slice(..length as usize);
        if call.is_multiple_of(2) {
            return Ok(content);
        }
        let mut writer = self.pool.writer(self.lengths.expected());
        for part in content.chunks(1000) {
            writer.write_all(part)?;
        }
        self.lengths.observe(length);
        Ok(writer.into_bytes())
    }
}

impl Handler for Function {
    async fn call(&self, event: Bytes, context: Context) -> Result<FunctionResponse, ErrorReport> {
        let told = context.client_context.as_ref();
        let call = told.and_then(|context| context.get("call")?.as_u64());
        let call = call.ok_or_else(|| ErrorReport::new("Soak.NoCall", "which call is it?"))?;
        self.account.ran(call);
        let plan = Plan::of(call);
        if !pattern::is_whole(&event, plan.event) {
            return Err(ErrorReport::new("Soak.WrongEvent", "not the event that was sent"));
        }
        drop(event);
        match plan.fate {
            Fate::Refused => Err(ErrorReport::new(REFUSED, "as planned")),
            Fate::Panics => panic!("as planned"),
            _ => self.answer(call, plan.answer).map(FunctionResponse::from),
        }
    }

    fn set_pool(&mut self, pool: &BufferPool) {
        self.pool = pool.clone();
    }
}

/// What has run, in memory that does not grow with it.
struct Account {
    /// A bit for each call.
    ran: Vec<AtomicU64>,
    runs: AtomicU64,
    twice: AtomicU64,
    marks: AtomicU64,
}

impl Account {
    fn new() -> Self {
        let ran = (0..CALLS_MAX.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self { ran, runs: 0.into(), twice: 0.into(), marks: 0.into() }
    }

    fn ran(&self, call: u64) {
        let bit = 1 << (call % 64);
        let before = self.ran[(call / 64) as usize].fetch_or(bit, Relaxed);
        self.runs.fetch_add(1, Relaxed);
        self.twice.fetch_add(u64::from(before & bit != 0), Relaxed);
        self.marks.fetch_add(mark(call), Relaxed);
    }
}

impl std::fmt::Display for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [runs, twice, marks] =
            [&self.runs, &self.twice, &self.marks].map(|count| count.load(Relaxed));
        write!(f, "{runs} {twice} {marks}")
    }
}

/// More than can be made in a day.
pub(crate) const CALLS_MAX: u64 = 1 << 25;
