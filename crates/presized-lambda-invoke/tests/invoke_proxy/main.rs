//! The Invoke client through HTTP proxies.

mod failures;
mod forward;
#[cfg(any(feature = "ring", feature = "aws-lc-rs"))]
mod terminator;
#[cfg(any(feature = "ring", feature = "aws-lc-rs"))]
mod tinyproxy;
#[cfg(any(feature = "ring", feature = "aws-lc-rs"))]
mod tunnel;

use std::time::Duration;

use aws_credential_types::Credentials;
use presized_lambda_invoke::{Client, ClientBuilder};
use presized_support::chain::messages;

/// Returns the settings of a client of AWS, with short waits.
fn builder() -> ClientBuilder {
    Client::builder()
        .region("us-east-1")
        .credentials(Credentials::new("AKIDEXAMPLE", "not-a-real-secret", None, None, "test"))
        .backoff(Duration::from_millis(1), Duration::from_millis(2))
        // A test that hangs fails. No test waits for it.
        .timeout(Duration::from_secs(20))
}

/// Returns an error and its causes, as a log shows them.
fn shown(error: &(dyn std::error::Error + 'static)) -> String {
    messages(error).join(": ")
}

/// The host that the settings of [`builder`] lead to.
const HOST: &str = "lambda.us-east-1.amazonaws.com";
