//! The function process: one case, in memory of its own.

use std::borrow::Cow;
use std::thread;

use bytes::Bytes;
use lambda_runtime::{LambdaEvent, service_fn};
use presized_benches::child;
use presized_lambda_runtime::{Context, ErrorReport, json, raw, run};
use presized_support::client::Error;
use presized_support::ledger::{Ledger, Mark};
use presized_support::meter::{Resident, Side, pin, process_cpu};
use presized_support::usage::process_minor_faults;
use serde::{Deserialize, Serialize};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::case::{Case, Document, KIB, Party, Threads, Work};

/// The work of one function process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) case: Case,
    /// Whether the process counts allocations. Its times are not used then.
    pub(crate) counts: bool,
}

/// The commands that a function process replies to.
pub(crate) mod command {
    /// CPU time in seconds and page faults, since the process began.
    pub(crate) const COST: &str = "cost";
    /// Bytes resident now, and the most so far.
    pub(crate) const RESIDENT: &str = "resident";
    /// Blocks and bytes allocated since the last of these commands.
    pub(crate) const ALLOCATED: &str = "allocated";
}

/// Serves until the input for commands is closed.
pub(crate) fn serve(job: Job) -> Result<(), Error> {
    pin(Side::Client);
    let (end, ended) = oneshot::channel();
    thread::Builder::new().name("commands".to_owned()).spawn(move || {
        let mut mark = Mark::now();
        let served = child::serve(|command| match command {
            command::COST => {
                let cpu = process_cpu().as_secs_f64();
                Ok(child::numbers([cpu, process_minor_faults() as f64]))
            }
            command::RESIDENT => {
                let Resident { now, peak } = Resident::read();
                Ok(child::numbers([now as f64, peak as f64]))
            }
            command::ALLOCATED => {
                let spent = mark.spent();
                mark = Mark::now();
                Ok(child::numbers([spent.allocations as f64, spent.bytes as f64]))
            }
            _ => Err(format!("unknown command: {command}").into()),
        });
        // The receiver is gone if the function ended by itself.
        let _ = end.send(());
        served.map_err(|error| error.to_string())
    })?;
    let Job { case, counts } = job;
    Ledger::count_this_thread(counts);
    let mut runtime = match case.cell.threads {
        Threads::Many => Builder::new_multi_thread(),
        Threads::One => Builder::new_current_thread(),
    };
    let runtime =
        runtime.enable_all().on_thread_start(move || Ledger::count_this_thread(counts)).build()?;
    runtime.block_on(async {
        tokio::select! {
            served = invocations(case) => served,
            _ = ended => Ok(()),
        }
    })
}

async fn invocations(Case { party, cell }: Case) -> Result<(), Error> {
    match party {
        Party::Peer => {
            let respond = documents(cell.work);
            let function = move |event: LambdaEvent<Document>| {
                let response = respond(event.payload);
                async { Ok::<_, lambda_runtime::Error>(response) }
            };
            lambda_runtime::run_concurrent(service_fn(function)).await
        }
        Party::Json => {
            let respond = documents(cell.work);
            let function = move |event, _: Context| {
                let response = respond(event);
                async { Ok::<_, ErrorReport>(response) }
            };
            Ok(run(json(function)).await?)
        }
        Party::Raw => {
            let respond = bytes(cell.work);
            let function = move |event, _: Context| {
                let response = respond(event);
                async { Ok::<_, ErrorReport>(response) }
            };
            Ok(run(raw(function)).await?)
        }
    }
}

/// Returns the function from types to types. The response is made once, because its making is not a
/// cost of the runtime.
fn documents(
    work: Work,
) -> impl Fn(Document) -> Cow<'static, Document> + Clone + Send + Sync + 'static {
    let bytes = if let Work::Respond(bytes) = work { bytes } else { KIB };
    let ready: &'static Document = Box::leak(Box::new(Document::of(bytes)));
    move |event| match work {
        Work::Respond(_) => Cow::Borrowed(ready),
        Work::Event(_) => Cow::Owned(Document::about(event.content())),
        Work::Echo(_) => Cow::Owned(event),
    }
}

/// Returns the function from bytes to bytes.
fn bytes(work: Work) -> impl Fn(Bytes) -> Bytes + Send + Sync + 'static {
    let ready = work.response();
    move |event| match work {
        Work::Respond(_) => ready.clone(),
        Work::Event(_) => Document::about(Document::content_of(&event)).to_json(),
        Work::Echo(_) => event,
    }
}
