//! The runtime against the Runtime APIs of other projects, and the emulator against their runtimes
//! and callers.
//!
//! A test whose peer is not installed prints that and passes, unless the environment has
//! `PRESIZED_REQUIRE_PEERS=1`. `.ci/peers/install` installs all peers.

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

/// Invokes a function and returns the payload of its response.
async fn invoke(client: &Client, function: &str, payload: impl Into<Bytes>) -> Bytes {
    client.invoke(function).payload(payload).send().await.unwrap().payload
}

/// Returns a client that tries once. The server at this address checks no signature.
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

/// The maximum length of a response, which all peers agree on.
const RESPONSE_MAX: usize = 6_291_556;

/// The time after which a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(120);
