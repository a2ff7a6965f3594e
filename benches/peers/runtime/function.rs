//! The process of a function: one case, in memory of its own.

use std::borrow::Cow;
use std::thread;

use bytes::Bytes;
use lambda_runtime::{LambdaEvent, service_fn};
use presized_lambda_runtime::{Context, ErrorReport, json, raw, run};
use presized_peers::child;
use presized_support::client::Error;
use presized_support::ledger::{Ledger, Mark};
use presized_support::meter::{Resident, Side, pin, process_cpu};
use presized_support::usage::process_minor_faults;
use serde::{Deserialize, Serialize};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::case::{Case, Document, KIB, Party, Threads, Work};

/// What a process is started for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Errand {
    pub(crate) case: Case,
    /// Whether it counts what it allocates, and is of no use for times.
    pub(crate) counts: bool,
}

/// What it can be asked for.
pub(crate) mod question {
    /// CPU time in seconds and page faults, since it began.
    pub(crate) const COST: &str = "cost";
    /// Bytes resident, and the most that were.
    pub(crate) const RESIDENT: &str = "resident";
    /// Blocks and bytes allocated since this was asked for last.
    pub(crate) const ALLOCATED: &str = "allocated";
}

/// Serves until nobody has a question any more.
pub(crate) fn serve(errand: Errand) -> Result<(), Error> {
    pin(Side::Client);
    let (end, ended) = oneshot::channel();
    thread::Builder::new().name("questions".to_owned()).spawn(move || {
        let mut mark = Mark::now();
        let asked = child::answer(|asked| match asked {
            question::COST => {
                let cpu = process_cpu().as_secs_f64();
                Ok(child::numbers([cpu, process_minor_faults() as f64]))
            }
            question::RESIDENT => {
                let Resident { now, peak } = Resident::read();
                Ok(child::numbers([now as f64, peak as f64]))
            }
            question::ALLOCATED => {
                let spent = mark.spent();
                mark = Mark::now();
                Ok(child::numbers([spent.allocations as f64, spent.bytes as f64]))
            }
            _ => Err(format!("{asked} is no question").into()),
        });
        // Whoever waits for it has ended otherwise.
        let _ = end.send(());
        asked.map_err(|error| error.to_string())
    })?;
    let Errand { case, counts } = errand;
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
            let answer = documents(cell.work);
            let function = move |event: LambdaEvent<Document>| {
                let answer = answer(event.payload);
                async { Ok::<_, lambda_runtime::Error>(answer) }
            };
            lambda_runtime::run_concurrent(service_fn(function)).await
        }
        Party::Json => {
            let answer = documents(cell.work);
            let function = move |event, _: Context| {
                let answer = answer(event);
                async { Ok::<_, ErrorReport>(answer) }
            };
            Ok(run(json(function)).await?)
        }
        Party::Raw => {
            let answer = bytes(cell.work);
            let function = move |event, _: Context| {
                let answer = answer(event);
                async { Ok::<_, ErrorReport>(answer) }
            };
            Ok(run(raw(function)).await?)
        }
    }
}

/// The function, from types to types. What it answers with is not made for each invocation:
/// that would be a cost of the function.
fn documents(
    work: Work,
) -> impl Fn(Document) -> Cow<'static, Document> + Clone + Send + Sync + 'static {
    let bytes = if let Work::Answer(bytes) = work { bytes } else { KIB };
    let ready: &'static Document = Box::leak(Box::new(Document::of(bytes)));
    move |event| match work {
        Work::Answer(_) => Cow::Borrowed(ready),
        Work::Event(_) => Cow::Owned(Document::about(event.content())),
        Work::Echo(_) => Cow::Owned(event),
    }
}

/// The same, from bytes to bytes.
fn bytes(work: Work) -> impl Fn(Bytes) -> Bytes + Send + Sync + 'static {
    let ready = work.answer();
    move |event| match work {
        Work::Answer(_) => ready.clone(),
        Work::Event(_) => Document::about(Document::content_of(&event)).to_json(),
        Work::Echo(_) => event,
    }
}
