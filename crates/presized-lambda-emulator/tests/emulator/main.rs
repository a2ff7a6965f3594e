//! The emulator between a client of this crate and runtimes that do what a test says.

mod attach;
mod concurrent;
mod drop;
mod echo;
mod errors;
mod invoke;
mod limits;
mod process;
mod runtime;
mod states;
mod streams;
mod wire;

use std::time::Duration;

use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_invoke::{Client, FunctionError, Invocation};

/// What the one function of most tests is called.
const NAME: &str = "fn";

async fn emulator(function: Function) -> Emulator {
    Emulator::builder().function(NAME, function).start().await.unwrap()
}

/// A client that tries once.
fn client(emulator: &Emulator) -> Client {
    emulator.client_builder().max_attempts(1).timeout(PATIENCE).build().unwrap()
}

/// The function error that a call has ended in.
fn failure(invocation: Invocation) -> FunctionError {
    *invocation.function_error.expect("a function error")
}

/// So that nothing hangs. No test waits for it.
const PATIENCE: Duration = Duration::from_secs(60);
