//! Bodies of unknown length under several allocators: CPU time, page faults and resident memory.
//!
//! This process runs the server. Each cell is read by a process of its own, and the ways to read
//! one body take turns.

mod report;

use presized_allocators::case::{Body, Job, Source, Way};
use presized_allocators::client::command;
use presized_benches::allocator::{DEFAULT, KEPT, RETURNED};
use presized_benches::child::Client;
use presized_benches::record;
use presized_support::bars::is_trial;
use presized_support::client::{Endpoint, Error};
use presized_support::meter::{Side, pin};
use presized_support::server::{Protocol, Server};

/// An allocator in one state: the program with it, and the environment of that program.
#[derive(Clone, Copy)]
struct Allocator {
    name: &'static str,
    program: &'static str,
    variables: &'static [(&'static str, &'static str)],
}

const GLIBC: &str = env!("CARGO_BIN_EXE_glibc");

/// All allocators, in the order of the tables.
const ALLOCATORS: [Allocator; 5] = [
    Allocator { name: "glibc, default", program: GLIBC, variables: DEFAULT.variables },
    Allocator { name: "glibc, kept", program: GLIBC, variables: KEPT.variables },
    Allocator { name: "glibc, returned", program: GLIBC, variables: RETURNED.variables },
    Allocator { name: "jemalloc", program: env!("CARGO_BIN_EXE_jemalloc"), variables: &[] },
    Allocator { name: "mimalloc", program: env!("CARGO_BIN_EXE_mimalloc"), variables: &[] },
];

const KIB: usize = 1 << 10;
const MIB: u64 = 1 << 20;

const FRAMES: [usize; 2] = [16 * KIB, 256 * KIB];

/// The measurements of one cell.
struct Outcome {
    way: Way,
    /// The largest growth of the resident memory, in bytes, over all bodies of the process.
    resident: f64,
    /// Seconds for one body, in each round.
    cpu: Vec<f64>,
    /// Page faults of one body, in each round.
    faults: Vec<f64>,
}

/// The cells of one body under one allocator.
struct Row {
    allocator: Allocator,
    body: Body,
    outcomes: Vec<Outcome>,
}

fn main() -> Result<(), Error> {
    // On a thread that ends, because this thread must not stay on the CPU of the server.
    let start = || {
        pin(Side::Server);
        Server::start(Protocol::Http1)
    };
    let server = std::thread::spawn(start).join().map_err(|_| "the server panicked")??;
    let mut rows = Vec::new();
    for allocator in ALLOCATORS {
        for source in Source::ALL {
            for &length in lengths() {
                for frame in FRAMES {
                    let body = Body { source, length, frame };
                    rows.push(take_turns(allocator, body, server.endpoint())?);
                }
            }
        }
    }
    println!("{}\n{}", report::table(&rows), report::bars(&rows));
    record::rows("allocators", &report::rows(&rows))?;
    record::table("allocators", &report::markdown(&rows))?;
    Ok(())
}

fn lengths() -> &'static [u64] {
    if is_trial() { &[MIB] } else { &[MIB, 6 * MIB, 7 * MIB, 7 * MIB + MIB / 2, 64 * MIB] }
}

/// Measures all ways to read one body.
fn take_turns(allocator: Allocator, body: Body, endpoint: &Endpoint) -> Result<Row, Error> {
    let mut clients = Vec::new();
    for way in Way::ALL {
        let job = Job { way, body, endpoint: endpoint.clone() };
        let client = Client::of_program(allocator.program, &job.to_string(), allocator.variables)?;
        let outcome = Outcome { way, resident: f64::NAN, cpu: Vec::new(), faults: Vec::new() };
        clients.push((client, outcome));
    }
    // The thresholds of an allocator rise with the first bodies.
    let (unmeasured, rounds) = if is_trial() { (0, 2) } else { (3, 31) };
    for round in 0..unmeasured + rounds {
        for (client, outcome) in &mut clients {
            let [cpu, faults] = client.ask_numbers(command::COST)?;
            if round >= unmeasured {
                outcome.cpu.push(cpu);
                outcome.faults.push(faults);
            }
        }
    }
    let finish = |(mut client, mut outcome): (Client, Outcome)| {
        [outcome.resident] = client.ask_numbers(command::RESIDENT)?;
        client.finish().map(|()| outcome)
    };
    let outcomes = clients.into_iter().map(finish).collect::<Result<_, _>>()?;
    Ok(Row { allocator, body, outcomes })
}
