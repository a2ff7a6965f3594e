//! Clients of the AWS SDK with the interceptor, and without it for comparison.

mod clients;
mod failures;
mod lambda;
mod memory;
mod s3;
mod schemas;
mod stalls;

use std::error::Error as StdError;
use std::future::Future;
use std::iter;
use std::time::Duration;

use presized_support::ledger::Ledger;
use presized_support::scripted::Reply;
use tokio::time::timeout;

/// Counts in memory.rs.
#[global_allocator]
static LEDGER: Ledger = Ledger;

/// Returns the error of the interceptor among the causes of an error of the SDK.
fn read_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a presized_aws_sdk::Error> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    iter::successors(Some(error), |&error| error.source())
}

/// Returns a response with a chunked body.
fn chunked(chunks: &[&str], trailers: &str) -> Reply {
    Reply::Keep(chunked_bytes(chunks, trailers).into())
}

fn chunked_bytes(chunks: &[&str], trailers: &str) -> Vec<u8> {
    let mut response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned();
    for chunk in chunks {
        response.push_str(&format!("{:x}\r\n{chunk}\r\n", chunk.len()));
    }
    response.push_str(&format!("0\r\n{trailers}\r\n"));
    response.into()
}

async fn within_time<F: Future>(future: F) -> F::Output {
    timeout(PATIENCE, future).await.expect("the test hangs")
}

/// The timeout of a test that hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// More than the longest response of these tests, in bytes.
const LIMIT: u64 = 8 << 20;
