//! Invokes functions on a Lambda emulator in three ways and compares the cost for the caller. It
//! needs no account and no network:
//!
//! ```text
//! cargo run --release -p quickstart-lambda
//! ```

mod calls;
mod chart;
mod failures;
mod functions;
mod measure;
mod ways;

use std::path::{Path, PathBuf};
use std::{env, iter};

use presized_lambda_emulator::Emulator;
use presized_support::ledger::Ledger;
use presized_support::table::{self, Table};
use tokio::runtime;

use crate::calls::Calls;
use crate::measure::Cell;
use crate::ways::Way;

/// Counts the allocations of the caller. The emulator and the functions run on another thread, which
/// is not counted.
#[global_allocator]
static LEDGER: Ledger = Ledger;

type Error = Box<dyn std::error::Error + Send + Sync>;

const MIB: usize = 1 << 20;

/// The lengths of the responses in the table.
const SIZES: [usize; 3] = [1 << 10, MIB, 6 * MIB];

/// The length of the responses in the chart.
const CHARTED: usize = 6 * MIB;

fn main() -> Result<(), Error> {
    let lambda = runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let emulator = lambda.block_on(functions::deploy())?;
    let caller = runtime::Builder::new_current_thread().enable_all().build()?;
    caller.block_on(compare(&emulator))
}

async fn compare(emulator: &Emulator) -> Result<(), Error> {
    eprintln!("Invoking a function on an emulator in this process:");
    let mut cells = Vec::new();
    for size in SIZES {
        let length = table::bytes(size as u64);
        eprintln!("  {} calls in each way, with responses of {length}", measure::TIMED);
        cells.push((size, measure::measure(emulator, size, ways(size)).await?));
    }
    eprintln!("  {} calls in each way, for the chart", calls::CALLS);
    let mut curves = Vec::new();
    for way in Way::ALL {
        curves.push(Calls::record(emulator, way, CHARTED).await?);
    }

    println!("\nCalls that fail, and their errors:");
    failures::show(&emulator.client_builder().build()?).await?;
    println!("\nThe cost of one call for the caller:\n\n{}{NOTES}", tabulate(&cells));

    let path = target()?.join("quickstart-lambda.svg");
    chart::draw(&path, CHARTED, &curves)?;
    let stats = emulator.stats(functions::REPORT)?;
    println!(
        "\nThe emulator counted {} calls of `report`, and ran {}.",
        stats.invoked, stats.started
    );
    println!("Chart:  {}", path.display());
    println!("Code:   examples/quickstart-lambda/src/functions.rs and ways.rs");
    println!("Next:   `cargo doc --open -p presized-lambda-invoke -p presized-lambda-runtime`");
    Ok(())
}

/// Returns the ways to read a response. A pool is for more than a few pages.
fn ways(size: usize) -> &'static [Way] {
    if size < MIB { &Way::ALL[..2] } else { &Way::ALL }
}

fn tabulate(cells: &[(usize, Vec<Cell>)]) -> Table {
    let mut table = Table::new(
        2,
        ["", "", "", "", "peak", "peak ÷", "large", "allocated ÷", "", "page"],
        [
            "response",
            "read with",
            "p50",
            "p99",
            "memory",
            "response",
            "allocs",
            "response",
            "copies",
            "faults",
        ],
    );
    for (size, cells) in cells {
        table.rule();
        for cell in cells {
            let of_response = |bytes: f64| table::times(bytes / *size as f64);
            table.row([
                table::bytes(*size as u64),
                cell.way.to_string(),
                table::time(cell.p50),
                table::time(cell.p99),
                table::bytes(cell.peak),
                of_response(cell.peak as f64),
                format!("{:.1}", cell.large),
                of_response(cell.allocated),
                cell.copies.to_string(),
                cell.page_faults.map_or("n/a".to_owned(), |faults| format!("{faults:.1}")),
            ]);
        }
    }
    table
}

const NOTES: &str = "
Times are from the call to the whole response, with emulator and function. presized signs each call
and gives it a deadline. The client of hyper-util, whose bodies are collected, does neither. Peak
memory is the most memory that the caller had allocated, above the time before its connection: the
response, the connection, the buffers of hyper and the pool. Large allocations (4 KiB and more),
allocated bytes and page faults are means of one call, without the first. Copies are those of each
byte after it was read from the socket.";

/// Returns the message of an error and of all its sources.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let errors = iter::successors(Some(error), |error| error.source());
    errors.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Returns the target directory, which contains `release/quickstart-lambda`.
fn target() -> Result<PathBuf, Error> {
    let program = env::current_exe()?;
    Ok(program.ancestors().nth(2).unwrap_or(Path::new(".")).to_owned())
}
