//! The function as a program, for a test to start: an example to Cargo, which is how it builds
//! what has the dependencies of tests and is none.

mod function;

use std::io;

use presized_lambda_runtime::{Error, raw, run};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false).init();
    run(raw(function::function)).await
}
