//! The client process: one cell, in memory of its own.

use bytes::Bytes;
use http_body_util::BodyExt;
use presized::{Collect, Reader};
use presized_benches::child;
use presized_support::client::Client;
use presized_support::meter::{Resident, Side, pin, thread_cpu};
use presized_support::pattern::{self, Pattern};
use presized_support::server::unknown_in_frames;
use presized_support::usage::minor_faults;
use tokio::runtime;

use crate::Error;
use crate::case::{Body, Job, Source, Way};

/// The commands that a client replies to.
pub mod command {
    /// CPU time of one body in seconds, and its page faults.
    pub const COST: &str = "cost";
    /// The growth of the resident memory since the first body, in bytes.
    pub const RESIDENT: &str = "resident";
}

/// Replies to the commands of the benchmark until it closes the standard input.
///
/// # Errors
///
/// The job of this process is bad, or a body cannot be read.
pub fn run() -> Result<(), Error> {
    let job: Job = child::job().ok_or("the benchmark starts this program")?.parse()?;
    pin(Side::Client);
    pattern::prepare();
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let mut client = match job.body.source {
        Source::Memory => None,
        Source::Hyper => Some(runtime.block_on(Client::connect(&job.endpoint))?),
    };
    let start = Resident::read().now;
    child::serve(|command| match command {
        command::COST => runtime.block_on(cost(&job, client.as_mut())).map(child::numbers),
        command::RESIDENT => {
            let grown = Resident::read().peak.saturating_sub(start);
            Ok(child::numbers([grown as f64]))
        }
        _ => Err(format!("unknown command: {command}").into()),
    })
}

/// Returns CPU time in seconds and page faults of one body. Its release is included and the check
/// of its bytes is not.
async fn cost(job: &Job, client: Option<&mut Client>) -> Result<[f64; 2], Error> {
    let Body { length, frame, .. } = job.body;
    let clock = || (thread_cpu().as_secs_f64(), minor_faults() as f64);
    let start = clock();
    let content = match client {
        Some(client) => {
            let response = client.get(&unknown_in_frames(length, frame)).await?;
            read(job.way, response.into_body()).await?
        }
        None => read(job.way, Pattern::of(length).in_frames_of(frame).of_unknown_length()).await?,
    };
    let arrived = clock();
    if !pattern::is_whole(&content, length) {
        return Err(format!("a body of {length} bytes has wrong content").into());
    }
    let checked = clock();
    drop(content);
    let released = clock();
    Ok([
        arrived.0 - start.0 + (released.0 - checked.0),
        arrived.1 - start.1 + (released.1 - checked.1),
    ])
}

async fn read<B>(way: Way, body: B) -> Result<Bytes, Error>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    Ok(match way {
        Way::Collect => body.collect().await?.to_bytes(),
        // The server is trusted: the benchmark chooses the lengths.
        Way::Presized => Collect::new(body, Reader::new(u64::MAX)).bytes().await?,
    })
}
