//! The emulator with the runtime and the SDK of AWS.

mod runtime;
mod sdk;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use presized_lambda_emulator::Emulator;
use tokio::time::timeout;

fn sdk_of(emulator: &Emulator) -> aws_sdk_lambda::Client {
    let address: SocketAddr = emulator.url().trim_start_matches("http://").parse().unwrap();
    presized_peers::api::sdk(address).unwrap()
}

async fn within_time<F: Future>(future: F) -> F::Output {
    timeout(PATIENCE, future).await.expect("the test hangs")
}

/// The longest response of a function in bytes.
const RESPONSE_MAX: usize = 6_291_556;

/// The timeout of a test that hangs.
const PATIENCE: Duration = Duration::from_secs(120);
