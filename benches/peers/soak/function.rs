//! The function process, and its record of all runs.

use std::io::Write;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use bytes::Bytes;
use presized::{BufferPool, LengthHistory};
use presized_benches::child;
use presized_lambda_runtime::{Context, ErrorReport, FunctionResponse, Handler, Runtime};
use presized_support::client::Error;
use presized_support::meter::Resident;
use presized_support::pattern::{self, Pattern};
use serde::Deserialize;
use tokio::sync::oneshot;

use crate::plan::{Fate, Plan, REFUSED, SIX_MIB, mark};

/// The commands that the process replies to.
pub(crate) mod command {
    /// Bytes resident now, and the most so far.
    pub(crate) const RESIDENT: &str = "resident";
    /// The number of runs, the number of repeated runs, and the sum of the marks.
    pub(crate) const ACCOUNT: &str = "account";
}

/// Serves until the input for commands is closed.
pub(crate) fn run() -> Result<(), Error> {
    // The caller receives each panic and checks it.
    panic::set_hook(Box::new(|_| {}));
    let account = Arc::new(Account::new());
    let function = Function::new(Arc::clone(&account));
    let (end, ended) = oneshot::channel();
    thread::Builder::new().name("commands".to_owned()).spawn(move || {
        let served = child::serve(|command| match command {
            command::RESIDENT => {
                let Resident { now, peak } = Resident::read();
                Ok(child::numbers([now as f64, peak as f64]))
            }
            command::ACCOUNT => Ok(account.to_string()),
            _ => Err(format!("unknown command: {command}").into()),
        });
        // The receiver is gone if the function ended by itself.
        let _ = end.send(());
        served.map_err(|error| error.to_string())
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let shutdown = async {
        let _ = ended.await;
    };
    Ok(runtime.block_on(Runtime::new(function).shutdown(shutdown).run())?)
}

struct Function {
    account: Arc<Account>,
    /// Each response is a prefix of this content.
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

    /// Returns a response. An even call returns a slice, and an odd one writes to a buffer of the
    /// pool, as JSON would.
    fn respond(&self, call: u64, length: u64) -> Result<Bytes, ErrorReport> {
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
        let context = context.client_context.as_deref().unwrap_or_default();
        let call = serde_json::from_str::<ClientContext>(context)
            .map_err(|_| ErrorReport::new("Soak.NoCall", "the client context has no call number"))?
            .call;
        self.account.ran(call);
        let plan = Plan::of(call);
        if !pattern::is_whole(&event, plan.event) {
            return Err(ErrorReport::new(
                "Soak.WrongEvent",
                "the event is not the one that was sent",
            ));
        }
        drop(event);
        match plan.fate {
            Fate::Refused => Err(ErrorReport::new(REFUSED, "as planned")),
            Fate::Panics => panic!("as planned"),
            _ => self.respond(call, plan.response).map(FunctionResponse::from),
        }
    }

    fn set_pool(&mut self, pool: &BufferPool) {
        self.pool = pool.clone();
    }
}

/// The client context of a call.
#[derive(Deserialize)]
struct ClientContext {
    call: u64,
}

/// The record of all runs, in memory that does not grow.
struct Account {
    /// A bit for each call that has run.
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

/// More calls than a day has room for.
pub(crate) const CALLS_MAX: u64 = 1 << 25;
