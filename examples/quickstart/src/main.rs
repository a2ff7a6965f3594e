//! Reads HTTP response bodies in three ways and compares their cost. It needs no network:
//!
//! ```text
//! cargo run --release -p quickstart
//! ```

mod chart;
mod client;
mod content;
mod measure;
mod refusals;
mod server;
mod table;
mod usage;
mod ways;

use std::env;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tokio::runtime;

use crate::measure::Cell;
use crate::server::Served;
use crate::table::Table;
use crate::ways::Way;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// The lengths of bodies, and the number of times that each way reads them.
const SIZES: [(u64, usize); 4] = [(1 << 10, 1000), (1 << 20, 200), (6 << 20, 50), (64 << 20, 12)];

/// The body of the chart.
const CHARTED: Served = Served { declared: Some(64 << 20), sent: 64 << 20 };

fn main() -> Result<(), Error> {
    let mut args = env::args().skip(1);
    let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
    match args.next().as_deref() {
        Some(measure::READ) => runtime.block_on(measure::read(args)),
        Some(refusals::REFUSE) => runtime.block_on(refusals::refuse(args)),
        Some(arg) => Err(format!("unknown argument: {arg}").into()),
        None => compare(),
    }
}

fn compare() -> Result<(), Error> {
    let server = server::start()?;
    let cells = measure_all(server)?;
    println!();
    refusals::show(server)?;
    println!("\nThe cost of one body for the client:\n\n{}{NOTES}", tabulate(&cells));
    println!("\nChart:  {}", chart_of(&cells)?);
    println!("Code:   examples/quickstart/src/ways.rs");
    println!("Next:   `cargo doc --open -p presized`, or README.md");
    Ok(())
}

fn measure_all(server: SocketAddr) -> Result<Vec<Cell>, Error> {
    eprintln!("Reading HTTP/1.1 bodies over loopback, in a new process for each way:");
    let mut cells = Vec::new();
    for (sent, bodies) in SIZES {
        for declared in [Some(sent), None] {
            let served = Served { declared, sent };
            eprintln!("  {bodies} bodies of {}, {}", table::bytes(sent), length(served));
            for way in Way::ALL {
                cells.push(measure::run(server, way, served, bodies)?);
            }
        }
    }
    Ok(cells)
}

fn tabulate(cells: &[Cell]) -> Table<8> {
    let header =
        ["body", "length", "read with", "p50", "CPU time", "page faults", "peak memory", "÷ body"];
    let mut table = Table::new(3, header);
    for (index, cell) in cells.iter().enumerate() {
        if index % Way::ALL.len() == 0 {
            table.rule();
        }
        let sent = cell.served.sent;
        table.row([
            table::bytes(sent),
            length(cell.served).to_owned(),
            cell.way.to_string(),
            table::time(cell.p50()),
            table::or_unknown(cell.cpu(), table::time),
            table::or_unknown(cell.page_faults(), table::count),
            table::or_unknown(cell.peak(), table::bytes),
            table::or_unknown(cell.peak(), |peak| ratio(peak, sent)),
        ]);
    }
    table
}

/// Formats the peak as a multiple of the body. The pages of the process outweigh a tiny body.
fn ratio(peak: u64, sent: u64) -> String {
    if sent < 4096 { "–".to_owned() } else { format!("{:.2}", peak as f64 / sent as f64) }
}

const NOTES: &str = "
Times are from the request to the whole body. CPU time and page faults are means of the client.
They leave out the first body. Peak memory is the most resident memory, above the start of the
process. It includes the connection, the buffers of hyper and the idle buffers of the pool.";

fn length(served: Served) -> &'static str {
    if served.declared.is_some() { "declared" } else { "chunked" }
}

/// Draws the chart and returns its path.
fn chart_of(cells: &[Cell]) -> Result<String, Error> {
    let cells: Vec<_> = cells.iter().filter(|cell| cell.served == CHARTED).collect();
    if cells.iter().any(|cell| cell.peak().is_none()) {
        return Ok("none, because this system does not report resident memory".to_owned());
    }
    let path = target()?.join("quickstart.svg");
    chart::draw(&path, &cells)?;
    Ok(path.display().to_string())
}

/// Returns the target directory, which contains `release/quickstart`.
fn target() -> Result<PathBuf, Error> {
    let program = env::current_exe()?;
    Ok(program.ancestors().nth(2).unwrap_or(Path::new(".")).to_owned())
}
