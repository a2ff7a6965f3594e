//! AWS's Runtime Interface Emulator, and a client that calls it.

use std::time::Duration;

use bytes::Bytes;
use presized_lambda_invoke::Client;
use presized_support::process::{Process, example};
use presized_support::rie::{self, FUNCTION};
use tokio::time::sleep;

/// An emulator that runs one function in another process.
pub(crate) struct Rie {
    process: Process,
    client: Client,
}

impl Rie {
    /// Serves one invocation at a time. Returns `None` if the emulator is not installed.
    pub(crate) fn start(timeout_seconds: u32) -> Option<Self> {
        rie::start(timeout_seconds, &example(BOOTSTRAP)).map(Self::new)
    }

    /// Serves several invocations at a time. Returns `None` if the emulator cannot be started here.
    pub(crate) fn start_concurrent(concurrency: usize, timeout_seconds: u32) -> Option<Self> {
        let bootstrap = example(BOOTSTRAP);
        rie::start_concurrent(concurrency, timeout_seconds, &bootstrap).map(Self::new)
    }

    fn new(process: Process) -> Self {
        let client = crate::client(process.address(0));
        Self { process, client }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) async fn invoke(&self, payload: impl Into<Bytes>) -> Bytes {
        crate::invoke(&self.client, FUNCTION, payload).await
    }

    /// Returns the log of the emulator and the function, once it contains `text`.
    pub(crate) async fn log_with(&self, text: &str) -> String {
        loop {
            let log = self.process.log();
            if log.contains(text) {
                return log;
            }
            sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The name of the example that is the function.
const BOOTSTRAP: &str = "test_function";
