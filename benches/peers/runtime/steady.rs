//! The steady state: 200 events of 6 MiB, one after the other, each of which is its response. Counts
//! page faults and system calls for memory.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use presized::BufferPool;
use presized_support::bars::{Bars, is_trial};
use presized_support::client::Error;
use presized_support::table::{self, Table};

use crate::case::{Case, Cell, MIB, Party, SIX_MIB, Threads, Work};
use crate::function::Job;
use crate::process::Process;

pub(crate) async fn run(pool: &BufferPool) -> Result<(), Error> {
    let (bytes, calls) = if is_trial() { (MIB, 10) } else { (SIX_MIB, CALLS) };
    let cell = Cell { work: Work::Echo(bytes), workers: 1, threads: Threads::Many };
    let emulator = crate::start(cell).await?;
    let mut table = Table::new(
        1,
        ["", "page faults", "resident", "resident", "resident"],
        ["", "per call", "before", "after", "peak"],
    );
    table.rule();
    let mut bars = Bars::default();
    let traces = std::env::args().any(|argument| argument == "--strace");
    for party in Party::ALL {
        let case = Case { party, cell };
        let mut process = Process::start(&emulator, pool, Job { case, counts: false }).await?;
        process.call(WARM_UP).await?;
        let [before, _] = process.resident()?;
        let faults = process.batch(calls).await?.faults;
        let [after, peak] = process.resident()?;
        let [first, last, most] = [before, after, peak].map(|size| table::bytes(size as u64));
        table.row([party.name().to_owned(), format!("{faults:.2}"), first, last, most]);
        if party == Party::Raw {
            bars.exactly("page faults of a call", (faults * 100.0).round() / 100.0, 0.0);
            bars.at_most("memory resident, after ÷ before", after / before, 1.01);
        }
        if traces {
            println!("System calls for memory, {}, {calls} invocations:", party.name());
            let trace = Trace::of(&process)?;
            process.call(calls).await?;
            trace.end()?;
        }
        process.finish()?;
    }
    println!(
        "{calls} events of {}, one after the other, each of which is its response:\n",
        table::bytes(bytes as u64)
    );
    println!("{table}\n\n{bars}");
    Ok(())
}

/// A strace process, which counts the system calls of another until it is stopped.
struct Trace(Child);

impl Trace {
    fn of(process: &Process) -> Result<Self, Error> {
        let id = process.id().to_string();
        let mut strace = Command::new("strace")
            .args(["-c", "-f", "-e", "trace=madvise,munmap,brk,mmap,mremap", "-p", &id])
            .stderr(Stdio::piped())
            .spawn()?;
        let mut messages = BufReader::new(strace.stderr.take().ok_or("no standard error")?);
        let mut line = String::new();
        messages.read_line(&mut line)?;
        print!("{line}");
        // The counts are printed to the same stream.
        std::thread::spawn(move || {
            for line in messages.lines().map_while(Result::ok) {
                println!("{line}");
            }
        });
        Ok(Self(strace))
    }

    fn end(mut self) -> Result<(), Error> {
        Command::new("kill").args(["-INT", &self.0.id().to_string()]).status()?;
        self.0.wait()?;
        Ok(())
    }
}

const CALLS: usize = 200;

const WARM_UP: usize = 20;
