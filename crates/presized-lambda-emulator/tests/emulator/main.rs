//! The emulator between a client and runtimes that a test controls.

mod attach;
mod concurrent;
mod drop;
mod echo;
mod errors;
mod faults;
mod invoke;
mod limits;
mod process;
mod retries;
mod runtime;
mod scaling;
mod states;
mod streams;
mod wire;

use std::time::Duration;

use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_invoke::{Client, FunctionError, Invocation};

/// The name of the function in most tests.
const NAME: &str = "fn";

async fn emulator(function: Function) -> Emulator {
    Emulator::builder().function(NAME, function).start().await.unwrap()
}

/// Returns a client without retries.
fn client(emulator: &Emulator) -> Client {
    emulator.client_builder().max_attempts(1).timeout(PATIENCE).build().unwrap()
}

/// Returns the function error of a response.
fn failure(invocation: Invocation) -> FunctionError {
    *invocation.function_error.expect("no function error")
}

/// The timeout of everything that could hang. No passing test waits for it.
const PATIENCE: Duration = Duration::from_secs(60);
