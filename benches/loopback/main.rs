//! Bodies over sockets: hyper with `collect().to_bytes()`, presized, reqwest, and a read(2) loop.
//!
//! This process runs the servers. Each case is read by a client process of its own, and the clients
//! of one body take turns. Everything is measured in three states of the allocator.

mod case;
mod charts;
mod client;
mod connection;
mod memory;
mod outcome;
mod report;
mod tables;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use presized_benches::allocator::{self, Allocator};
use presized_benches::{child, record};
use presized_support::bars::is_trial;
use presized_support::client::{Endpoint, Error};
use presized_support::ledger::Ledger;
use presized_support::meter::{Side, pin};
use presized_support::server::{Protocol, Server};
use presized_support::table;

use crate::case::{Case, Job, KIB, MIB, SIX_MIB, Transport, Way};
use crate::client::command;
use crate::connection::Connection;
use crate::outcome::{Outcome, Outcomes};

/// Counts in the client processes, while their memory is measured.
#[global_allocator]
static LEDGER: Ledger = Ledger;

fn main() -> Result<(), Error> {
    if let Some(job) = child::job() {
        return client::run(&job.parse()?);
    }
    let servers = Servers::start()?;
    let mut states = Vec::new();
    for allocator in allocator::ALL {
        let mut outcomes = Vec::new();
        for transport in Transport::ALL {
            for &length in lengths() {
                outcomes.extend(take_turns(&servers, allocator, transport, length)?);
            }
        }
        let outcomes = Outcomes { allocator, all: outcomes };
        report::print(&outcomes);
        states.push(outcomes);
    }
    record::rows("loopback", &report::rows(&states))?;
    charts::draw(&states, lengths())?;
    tables::write(&states, lengths())?;
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
    if is_trial() { &[KIB, MIB] } else { &[KIB, 64 * KIB, MIB, SIX_MIB, 64 * MIB] }
}

/// The number of rounds. Long bodies have fewer.
fn rounds(length: u64) -> usize {
    match length {
        _ if is_trial() => 2,
        ..=SIX_MIB => 40,
        _ => 13,
    }
}

/// One server for each protocol.
struct Servers([Server; 3]);

impl Servers {
    fn start() -> Result<Self, Error> {
        // On a thread that ends, because this thread must not stay on the CPU of the servers.
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
        endpoint.expect("each protocol has a server")
    }
}

/// Measures all ways to read one body. The clients take turns.
fn take_turns(
    servers: &Servers,
    allocator: Allocator,
    transport: Transport,
    length: u64,
) -> Result<Vec<Outcome>, Error> {
    let endpoint = servers.endpoint(transport);
    let mut clients = Vec::new();
    for case in Case::of(transport, length) {
        let job = Job { case, endpoint: endpoint.clone() };
        let mut client = child::Client::start(&job.to_string(), allocator.variables)?;
        let memory = client.ask_numbers::<5>(command::MEMORY)?.into();
        clients.push((client, Outcome { case, memory, cpu: Vec::new(), faults: Vec::new() }));
    }
    for _ in 0..rounds(length) {
        for (client, outcome) in &mut clients {
            let [cpu, faults] = client.ask_numbers(command::COST)?;
            outcome.cpu.push(cpu);
            outcome.faults.push(faults);
        }
    }
    let finish = |(client, outcome): (child::Client, _)| client.finish().map(|()| outcome);
    clients.into_iter().map(finish).collect()
}

fn times(criterion: &mut Criterion, servers: &Servers) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut group = criterion.benchmark_group("loopback");
    for length in [KIB, SIX_MIB] {
        group.throughput(Throughput::Bytes(length));
        for way in [Way::Collect, Way::Presized, Way::Reqwest, Way::Read] {
            let case = Case { transport: Transport::Http1, length, way };
            let endpoint = servers.endpoint(case.transport).clone();
            let mut connection = runtime.block_on(Connection::open(&Job { case, endpoint }))?;
            let id = BenchmarkId::new(format!("{way:?}"), table::bytes(length));
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    let content = runtime.block_on(connection.read()).expect("the server responds");
                    assert_eq!(content.len() as u64, length);
                    connection.release(content);
                });
            });
        }
    }
    group.finish();
    Ok(())
}
