//! Handlers behind the Invoke API of the emulator: the caller gets what they report.

mod errors;
mod graceful;
mod init;
mod layers;
mod state;

use std::time::Duration;

use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_invoke::{Client, FunctionError, FunctionErrorKind};
use presized_lambda_runtime::Handler;

/// The name of the function in all tests.
const NAME: &str = "fn";

/// Returns the emulator of one function with this handler, and a client without retries.
async fn attached(handler: impl Handler) -> (Emulator, Client) {
    let function = Function::new().timeout(PATIENCE);
    let emulator = Emulator::builder().function(NAME, function).start().await.unwrap();
    emulator.attach(NAME, handler).unwrap();
    let client = emulator.client_builder().max_attempts(1).timeout(PATIENCE).build().unwrap();
    (emulator, client)
}

/// Invokes a handler, and returns the error of the function. It must be an unhandled one.
async fn failure(handler: impl Handler) -> FunctionError {
    let (_emulator, client) = attached(handler).await;
    let response = client.invoke(NAME).payload("0").send().await.unwrap();
    let error = *response.function_error.expect("no function error");
    assert_eq!(error.kind, FunctionErrorKind::Unhandled);
    error
}

/// The timeout of everything that could hang. No passing test waits for it.
const PATIENCE: Duration = Duration::from_secs(60);
