//! The runtime client before Runtime APIs that others have written, and the emulator before
//! runtimes and callers that others have written.
//!
//! A test whose peer is not installed says so and passes, unless the environment has
//! `PRESIZED_REQUIRE_PEERS=1`. `.ci/peers/install` installs them all.

#![cfg(unix)]

mod awslambdaric;
mod boto3;
mod cargo_lambda;
mod concurrent;
mod function;
mod report;
mod rie;
mod sequential;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use presized_lambda_invoke::{Client, Credentials};
use tokio::time::timeout;

/// Sends a payload to a function, once, and returns what comes back.
async fn invoke(client: &Client, function: &str, payload: impl Into<Bytes>) -> Bytes {
    client.invoke(function).payload(payload).send().await.unwrap().payload
}

/// A client, which tries once, of the server at this address. It looks at no signature.
fn client(address: SocketAddr) -> Client {
    Client::builder()
        .endpoint(format!("http://{address}"))
        .region("us-east-1")
        .credentials(Credentials::new("AKIDEXAMPLE", "secret", None, None, "test"))
        .max_attempts(1)
        .timeout(PATIENCE)
        .build()
        .unwrap()
}

async fn within_time<F: Future>(future: F) -> F::Output {
    timeout(PATIENCE, future).await.expect("hangs")
}

/// What answers fit into, and no more: 6 MiB and a little.
const ANSWER_MAX: usize = 6_291_556;

/// So that nothing hangs. No test waits for it.
const PATIENCE: Duration = Duration::from_secs(120);
