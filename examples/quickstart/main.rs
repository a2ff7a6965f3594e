//! What `presized` does to the reading of a body, measured against servers that this
//! starts itself. Needs no network:
//!
//! ```text
//! cargo run --release --example quickstart
//! ```

mod chart;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use presized::{BufferPool, ResponseExt};
use presized_support::client::{Client, Endpoint, Error};
use presized_support::ledger::{Ledger, Mark, Spent};
use presized_support::pattern;
use presized_support::server::{Protocol, Server, known};
use presized_support::table::{self, Table};
use presized_support::usage::minor_faults;

/// Counts the allocations of the client. The servers are on threads that do not count.
#[global_allocator]
static LEDGER: Ledger = Ledger;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Most bytes that are taken of any body here.
const LIMIT: u64 = 100 * MIB;

/// The ways to read a body that are compared.
#[derive(Clone, Copy, Debug)]
enum Reader<'a> {
    Collect,
    Presized,
    Eager,
    Pooled(&'a BufferPool),
}

/// A body, by one of the ways. This is all there is to the API.
async fn read(reader: Reader<'_>, response: Response<Incoming>) -> Result<Bytes, Error> {
    if let Reader::Collect = reader {
        return Ok(response.into_body().collect().await?.to_bytes());
    }
    let collect = response.collect_presized(&Method::GET, LIMIT);
    Ok(match reader {
        // The default of `eager` is 16 MiB: most that is reserved on the word of the peer.
        Reader::Eager => collect.eager(64 << 20).bytes().await?,
        Reader::Pooled(pool) => collect.eager(64 << 20).pool(pool).bytes().await?,
        _ => collect.bytes().await?,
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quickstart: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Error> {
    compare().await?;
    chart::draw().await?;
    println!("\nBodies that are refused, each with an error that says why:");
    a_lie().await?;
    over_the_limit().await?;
    cut_short().await
}

/// Prints one table: every size, over both protocols, by every way to read it.
async fn compare() -> Result<(), Error> {
    let servers = [
        ("HTTP/1.1", Server::start(Protocol::Http1)?),
        ("HTTP/2", Server::start(Protocol::Http2)?),
    ];
    let mut table = Table::new(
        3,
        ["", "", "", "time", "large", "allocated", "peak", "peak", "page"],
        [
            "protocol",
            "body",
            "read with",
            "per body",
            "allocs",
            "÷ body",
            "memory",
            "÷ body",
            "faults",
        ],
    );
    println!("Reading one body into memory, client side, everything counted:\n");
    for (protocol, server) in &servers {
        table.rule();
        for size in [KIB, MIB, 6 * MIB, 64 * MIB] {
            let pool = BufferPool::new(64 << 20);
            for (reader, figures) in measure(server.endpoint(), size, &pool).await? {
                table.row([
                    (*protocol).to_owned(),
                    table::bytes(size),
                    reader.name().to_owned(),
                    table::time(figures.time),
                    format!("{:.1}", figures.large),
                    table::times(figures.allocated / size as f64),
                    table::bytes(figures.peak),
                    table::times(figures.peak as f64 / size as f64),
                    format!("{:.0}", figures.page_faults),
                ]);
            }
        }
    }
    print!("{table}");
    println!("{NOTES}");
    Ok(())
}

const NOTES: &str = "
Time is the median of bodies read in turn on connections that are kept alive. Large
allocations (4 KiB and more), bytes allocated and page faults are means per body, with
what hyper allocates for it. Peak memory is the most that was alive at one time since
before the connection was opened: the body, hyper's buffers and the connection itself.
A warm pool has the memory of an earlier body, and its peak is only what came on top.";

/// What one body costs.
struct Figures {
    time: Duration,
    large: f64,
    allocated: f64,
    peak: u64,
    page_faults: f64,
}

async fn measure<'a>(
    server: &Endpoint,
    size: u64,
    pool: &'a BufferPool,
) -> Result<Vec<(Reader<'a>, Figures)>, Error> {
    let mut readers = vec![Reader::Collect, Reader::Presized];
    if size == 64 * MIB {
        readers.push(Reader::Eager);
    }
    if size >= MIB {
        readers.push(Reader::Pooled(pool));
    }
    let times = clock(server, size, &readers).await?;
    let mut measured = Vec::new();
    for (&reader, (time, page_faults)) in readers.iter().zip(times) {
        let (spent, peak) = count(server, size, reader).await?;
        let per_body = |total: u64| total as f64 / COUNTED as f64;
        let (large, allocated) = (per_body(spent.large), per_body(spent.bytes));
        measured.push((reader, Figures { time, large, allocated, peak, page_faults }));
    }
    Ok(measured)
}

/// Reads bodies by each of the ways in turn, with the ledger closed. Gives the median
/// time and the page faults per body of each.
async fn clock(
    server: &Endpoint,
    size: u64,
    readers: &[Reader<'_>],
) -> Result<Vec<(Duration, f64)>, Error> {
    let rounds = if size < 64 * MIB { 30 } else { 7 };
    let mut clients = Vec::new();
    for _ in readers {
        clients.push(Client::connect(server).await?);
    }
    let mut times = vec![Vec::new(); readers.len()];
    let mut faults = vec![0; readers.len()];
    for round in 0..=rounds {
        for (index, &reader) in readers.iter().enumerate() {
            let faults_before = minor_faults();
            let start = Instant::now();
            let response = clients[index].get(&known(size)).await?;
            let content = read(reader, response).await?;
            let time = start.elapsed();
            let faulted = minor_faults() - faults_before;
            check(&content, size)?;
            // The first round warms up the connections.
            if round > 0 {
                times[index].push(time.as_secs_f64());
                faults[index] += faulted;
            }
        }
    }
    for client in clients {
        client.close().await;
    }
    let times = times.into_iter().map(|times| Duration::from_secs_f64(table::median(times)));
    Ok(times.zip(faults.iter().map(|&faults| faults as f64 / f64::from(rounds))).collect())
}

/// Bodies for which allocations are counted, after one that warms up the connection.
const COUNTED: u64 = 4;

/// Gives what those bodies took together, and the peak since before the connection was
/// opened.
async fn count(server: &Endpoint, size: u64, reader: Reader<'_>) -> Result<(Spent, u64), Error> {
    Ledger::count_this_thread(true);
    let opened = Mark::now();
    let mut client = Client::connect(server).await?;
    let mut before = opened.spent();
    for body in 0..=COUNTED {
        if body == 1 {
            before = opened.spent();
        }
        let response = client.get(&known(size)).await?;
        check(&read(reader, response).await?, size)?;
    }
    let after = opened.spent();
    client.close().await;
    Ledger::count_this_thread(false);
    let spent = Spent {
        large: after.large - before.large,
        bytes: after.bytes - before.bytes,
        ..Spent::default()
    };
    Ok((spent, after.peak))
}

impl Reader<'_> {
    fn name(self) -> &'static str {
        match self {
            Reader::Collect => "collect().to_bytes()",
            Reader::Presized => "presized",
            Reader::Eager => "presized, eager(64 MiB)",
            Reader::Pooled(_) => "presized, warm pool",
        }
    }
}

/// A peer that declares 2^62 bytes and sends a handful.
async fn a_lie() -> Result<(), Error> {
    const SENT: &[u8] =
        b"HTTP/1.1 200 OK\r\ncontent-length: 4611686018427387904\r\n\r\nthat is all";
    refused("A lie: 2^62 bytes declared, 11 sent, limit 100 MiB", SENT, LIMIT).await?;
    refused("The same, and no limit: 16 MiB is what a word is good for", SENT, u64::MAX).await
}

/// A peer that declares nothing, and goes on and on.
async fn over_the_limit() -> Result<(), Error> {
    let mut sent = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    sent.resize(sent.len() + (8 << 20), b'.');
    refused("A body over the limit: nothing declared, 8 MiB sent, limit 1 MiB", &sent, MIB).await
}

/// A peer that declares 6 MiB, and hangs up in the middle.
async fn cut_short() -> Result<(), Error> {
    let mut sent = b"HTTP/1.1 200 OK\r\ncontent-length: 6291456\r\n\r\n".to_vec();
    sent.resize(sent.len() + (3 << 20), b'.');
    refused("A body cut short: 6 MiB declared, 3 MiB sent", &sent, LIMIT).await
}

async fn refused(what: &str, sent: &[u8], limit: u64) -> Result<(), Error> {
    let server = Server::raw(sent)?;
    let mut client = Client::connect(server.endpoint()).await?;
    let response = client.get("/").await?;

    Ledger::count_this_thread(true);
    let (mark, faults) = (Mark::now(), minor_faults());
    let result = response.collect_presized(&Method::GET, limit).bytes().await;
    let (spent, faults) = (mark.spent(), minor_faults() - faults);
    Ledger::count_this_thread(false);

    let Err(error) = result else {
        return Err(format!("{what}: was not refused").into());
    };
    println!("\n{what}\n    error   {}", describe(&error));
    println!(
        "    memory  {} at most, page faults: {}, left to take out of the error: {}",
        table::bytes(spent.peak),
        faults,
        table::bytes(error.into_partial().len() as u64),
    );
    Ok(())
}

/// The error and all that caused it.
fn describe(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", describe(source)),
        None => error.to_string(),
    }
}

fn check(content: &[u8], size: u64) -> Result<(), Error> {
    if pattern::is_whole(content, size) {
        Ok(())
    } else {
        Err(format!("wrong bytes in a body of {}", table::bytes(size)).into())
    }
}
