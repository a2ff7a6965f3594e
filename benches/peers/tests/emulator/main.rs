//! The emulator between what AWS itself has for functions and for those who call them.

mod runtime;
mod sdk;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use presized_lambda_emulator::Emulator;
use tokio::time::timeout;

fn sdk_of(emulator: &Emulator) -> aws_sdk_lambda::Client {
    let address: SocketAddr = emulator.url().trim_start_matches("http://").parse().unwrap();
    presized_peers::api::sdk(address)
}

async fn within_time<F: Future>(future: F) -> F::Output {
    timeout(PATIENCE, future).await.expect("hangs")
}

/// What answers fit into, and no more: 6 MiB and a little.
const ANSWER_MAX: usize = 6_291_556;

/// So that nothing hangs. No test waits for it.
const PATIENCE: Duration = Duration::from_secs(120);
