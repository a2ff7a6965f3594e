//! Two functions, a Lambda to run them in, and who calls them, in one process: what `presized`
//! does to reading an answer, measured, and what it says when there is none. Needs no account
//! and no network:
//!
//! ```text
//! cargo run --release --features lambda-emulator --example quickstart
//! ```

mod chart;
mod measure;
mod ways;

use std::io::{self, Write};
use std::process::ExitCode;
use std::str;
use std::sync::LazyLock;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_invoke::Client;
use presized_lambda_runtime::{Context, ErrorReport, raw, streaming};
use presized_support::ledger::{Ledger, Mark};
use presized_support::table;
use tokio::runtime;

/// Counts the allocations of the caller. Lambda and the functions are on a thread that does not
/// count.
#[global_allocator]
static LEDGER: Ledger = Ledger;

type Error = Box<dyn std::error::Error + Send + Sync>;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// What the functions answer with, of which they send slices.
static CONTENT: LazyLock<Bytes> =
    LazyLock::new(|| (0..6 * MIB).map(|n| (n % 251) as u8).collect::<Vec<u8>>().into());

/// A function that answers with as many bytes as it is asked for.
async fn report(event: Bytes, _context: Context) -> Result<Bytes, ErrorReport> {
    let size: usize = str::from_utf8(&event)?.parse()?;
    if size > CONTENT.len() {
        return Err(ErrorReport::new("Report.TooLong", format!("{size} bytes are too many")));
    }
    Ok(CONTENT.slice(..size))
}

/// A function that streams its answer, and fails on the way.
async fn feed(
    _event: Bytes,
    _context: Context,
) -> Result<impl Stream<Item = Result<Bytes, ErrorReport>>, ErrorReport> {
    let chunks = (0..3).map(|_| Ok(CONTENT.slice(..MIB)));
    let failure = ErrorReport::new("Feed.SourceGone", "row 4711 cannot be read");
    Ok(stream::iter(chunks.chain([Err(failure)])))
}

/// A Lambda that has both.
async fn deploy() -> io::Result<Emulator> {
    let functions = Emulator::builder().function("report", Function::new());
    let emulator = functions.function("feed", Function::new()).start().await?;
    emulator.attach("report", raw(report))?;
    emulator.attach("feed", streaming(feed))?;
    Ok(emulator)
}

fn main() -> ExitCode {
    match run(&mut io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads this has seen enough.
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            // Where standard error is closed, nobody is there to be told.
            let _ = writeln!(io::stderr(), "quickstart: {}", chain(&*error));
            ExitCode::FAILURE
        }
    }
}

fn run(out: &mut impl Write) -> Result<(), Error> {
    let lambda = runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let emulator = lambda.block_on(deploy())?;
    let caller = runtime::Builder::new_current_thread().enable_all().build()?;
    caller.block_on(async {
        measure::compare(&emulator, out).await?;
        chart::draw(&emulator, out).await?;
        writeln!(out, "\nCalls that fail, each with an error that says why:")?;
        let client = emulator.client_builder().build()?;
        function_error(&client, out).await?;
        over_the_limit(&client, out).await?;
        broken_stream(&client, out).await?;
        let stats = emulator.stats("report")?;
        let (calls, started) = (stats.invoked, stats.started);
        writeln!(
            out,
            "\nThe emulator counts {calls} calls of report, and {started} times that it was executed."
        )?;
        Ok(())
    })
}

/// The function fails. That is an answer too.
async fn function_error(client: &Client, out: &mut impl Write) -> Result<(), Error> {
    let answer = client.invoke("report").payload("six").send().await?;
    let Some(error) = answer.function_error else {
        return Err("a function that fails: it did not".into());
    };
    writeln!(out, "\nA function that fails: it was asked for \"six\" bytes")?;
    writeln!(out, "    error   {error}")?;
    Ok(())
}

/// The answer is longer than its caller takes.
async fn over_the_limit(client: &Client, out: &mut impl Write) -> Result<(), Error> {
    let call = client.invoke("report").payload((6 * MIB).to_string()).limit(MIB as u64);
    Ledger::count_this_thread(true);
    let mark = Mark::now();
    let result = call.send().await;
    let peak = mark.spent().peak;
    Ledger::count_this_thread(false);

    let Err(error) = result else {
        return Err("an answer over the limit: was not refused".into());
    };
    writeln!(out, "\nAn answer over the limit: 6 MiB, where 1 MiB is taken")?;
    writeln!(out, "    error   {}", chain(&error))?;
    writeln!(out, "    memory  {} at most, for the whole call", table::bytes(peak))?;
    Ok(())
}

/// The function fails when a part of its answer is with the caller.
async fn broken_stream(client: &Client, out: &mut impl Write) -> Result<(), Error> {
    let mut stream = client.invoke_streaming("feed").send().await?;
    let mut received = 0;
    let error = loop {
        match stream.next().await {
            Some(Ok(chunk)) => received += chunk.len() as u64,
            Some(Err(error)) => break error,
            None => return Err("a stream that breaks: it did not".into()),
        }
    };
    let received = table::bytes(received);
    writeln!(out, "\nA stream that breaks: the status was {}, {received} came", stream.status())?;
    writeln!(out, "    error   {}", chain(&error))?;
    Ok(())
}

/// The error and all that caused it.
fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
