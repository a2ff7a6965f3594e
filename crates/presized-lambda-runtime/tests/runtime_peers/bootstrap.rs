//! The function as a program that tests start.
//!
//! It is an example for Cargo, because an example is a program with the dependencies of tests.

mod function;

use std::{env, io};

use presized_lambda_runtime::{BoxError, Error, Handler, raw, run_with};

async fn init() -> Result<impl Handler, BoxError> {
    match env::var("TEST_INIT_ERROR") {
        Ok(message) => Err(message.into()),
        Err(_) => Ok(raw(function::function)),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false).init();
    run_with(init).await
}
