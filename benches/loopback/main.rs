//! Bodies over real sockets: hyper with `collect().to_bytes()`, with presized, reqwest,
//! and a bare read(2) loop.
//!
//! This process has the servers. Every case is read by a process of its own, whose
//! memory no other case has touched, and the processes of one body take turns. All of
//! it is done in two states of the allocator: one that keeps what was freed and one
//! that gives it back to the kernel.

mod case;
mod client;
mod connection;
mod report;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use presized_support::bars::is_trial;
use presized_support::client::{Endpoint, Error};
use presized_support::ledger::Ledger;
use presized_support::meter::{Side, pin};
use presized_support::server::{Protocol, Server};
use presized_support::table;

use crate::case::{Case, Errand, KIB, MIB, Memory, Reader, SIX_MIB, Transport, numbers};
use crate::connection::Connection;

/// Counts in the processes that read, while memory is looked at.
#[global_allocator]
static LEDGER: Ledger = Ledger;

/// What glibc does with memory that is freed.
pub(crate) struct Allocator {
    pub(crate) name: &'static str,
    variables: [(&'static str, &'static str); 2],
}

/// Memory is kept up to the largest block for which glibc lets itself be told so, the
/// state that favours whoever allocates much.
const KEEPS: Allocator = Allocator {
    name: "memory kept",
    variables: [("MALLOC_MMAP_THRESHOLD_", "30000000"), ("MALLOC_TRIM_THRESHOLD_", "2000000000")],
};

/// As in musl, and in every process before the thresholds of glibc have grown.
const GIVES_BACK: Allocator = Allocator {
    name: "memory given back",
    variables: [("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TRIM_THRESHOLD_", "131072")],
};

/// Where a process finds what it is to read.
const ERRAND: &str = "PRESIZED_LOOPBACK_ERRAND";

fn main() -> Result<(), Error> {
    if let Ok(errand) = std::env::var(ERRAND) {
        return client::run(errand.parse()?);
    }
    let servers = Servers::start()?;
    for allocator in [KEEPS, GIVES_BACK] {
        let mut results = Vec::new();
        for transport in Transport::ALL {
            for &length in lengths() {
                results.extend(take_turns(&servers, &allocator, transport, length)?);
            }
        }
        report::print(&allocator, &results);
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20)
        .configure_from_args();
    times(&mut criterion, &servers)?;
    criterion.final_summary();
    Ok(())
}

fn lengths() -> &'static [u64] {
    if is_trial() { &[KIB, MIB] } else { &[KIB, 64 * KIB, MIB, 6 * MIB, 64 * MIB] }
}

/// Fewer where a body takes long.
fn rounds(length: u64) -> usize {
    match length {
        _ if is_trial() => 2,
        ..=SIX_MIB => 40,
        _ => 13,
    }
}

/// One server for every protocol.
struct Servers([Server; 3]);

impl Servers {
    fn start() -> Result<Self, Error> {
        // On a thread that ends, since this one will have clients.
        let start = || {
            pin(Side::Server);
            [Protocol::Http1, Protocol::Http2, Protocol::Tls].map(Server::start)
        };
        let [a, b, c] = std::thread::spawn(start).join().map_err(|_| "a server panicked")?;
        Ok(Self([a?, b?, c?]))
    }

    fn endpoint(&self, transport: Transport) -> &Endpoint {
        let mut endpoints = self.0.iter().map(Server::endpoint);
        let endpoint = endpoints.find(|endpoint| endpoint.protocol == transport.protocol());
        endpoint.expect("there is a server for every protocol")
    }
}

/// What was measured of one case.
pub(crate) struct Outcome {
    pub(crate) case: Case,
    pub(crate) memory: Memory,
    /// Seconds for one body, in every round.
    pub(crate) cpu: Vec<f64>,
    /// Page faults for one body, in every round.
    pub(crate) faults: Vec<f64>,
}

/// Lets all readers of a body read it in turn.
fn take_turns(
    servers: &Servers,
    allocator: &Allocator,
    transport: Transport,
    length: u64,
) -> Result<Vec<Outcome>, Error> {
    let endpoint = servers.endpoint(transport);
    let mut readers = Case::of(transport, length)
        .map(|case| Process::start(Errand { case, endpoint: endpoint.clone() }, allocator))
        .collect::<Result<Vec<_>, _>>()?;
    for _ in 0..rounds(length) {
        for reader in &mut readers {
            reader.take_turn()?;
        }
    }
    readers.into_iter().map(Process::finish).collect()
}

/// A process that reads one case.
struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    outcome: Outcome,
}

impl Process {
    fn start(errand: Errand, allocator: &Allocator) -> Result<Self, Error> {
        let mut child = Command::new(std::env::current_exe()?)
            .env(ERRAND, errand.to_string())
            .envs(allocator.variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no standard input")?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        let memory = line(&mut output)?.parse()?;
        let outcome = Outcome { case: errand.case, memory, cpu: Vec::new(), faults: Vec::new() };
        Ok(Self { child, input, output, outcome })
    }

    fn take_turn(&mut self) -> Result<(), Error> {
        writeln!(self.input)?;
        let [cpu, faults] = numbers(&line(&mut self.output)?)?;
        self.outcome.cpu.push(cpu);
        self.outcome.faults.push(faults);
        Ok(())
    }

    fn finish(self) -> Result<Outcome, Error> {
        let Self { mut child, input, outcome, .. } = self;
        drop(input);
        if child.wait()?.success() { Ok(outcome) } else { Err("a reader failed".into()) }
    }
}

fn line(output: &mut impl BufRead) -> Result<String, Error> {
    let mut line = String::new();
    if output.read_line(&mut line)? == 0 {
        return Err("a reader has ended early, and said why above".into());
    }
    Ok(line)
}

fn times(criterion: &mut Criterion, servers: &Servers) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut group = criterion.benchmark_group("loopback");
    for length in [KIB, 6 * MIB] {
        group.throughput(Throughput::Bytes(length));
        for reader in [Reader::Collect, Reader::Presized, Reader::Reqwest, Reader::Read] {
            let case = Case { transport: Transport::Http1, length, reader };
            let endpoint = servers.endpoint(case.transport).clone();
            let mut connection = runtime.block_on(Connection::open(&Errand { case, endpoint }))?;
            let id = BenchmarkId::new(format!("{reader:?}"), table::bytes(length));
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    let content = runtime.block_on(connection.read()).expect("loopback works");
                    assert_eq!(content.len() as u64, length);
                    connection.release(content);
                });
            });
        }
    }
    group.finish();
    Ok(())
}
