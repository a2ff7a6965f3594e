//! The function as a program that tests start.
//!
//! It is an example for Cargo, because an example is a program with the dependencies of tests.

mod function;

use std::io;

use presized_lambda_runtime::{Error, raw, run};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false).init();
    run(raw(function::function)).await
}
