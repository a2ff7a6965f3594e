//! The Invoke client against servers that do what a test says, byte for byte.

mod answers;
mod deadlines;
mod refusals;
mod report;
mod requests;
mod retries;
mod secrets;

use std::time::Duration;

use aws_credential_types::Credentials;
use presized_lambda_invoke::{Client, ClientBuilder};
use presized_support::scripted::{Reply, Scripted};

/// Settings for `server`, with waits short enough for a test.
fn builder(server: &Scripted) -> ClientBuilder {
    Client::builder()
        .region("us-east-1")
        .endpoint(server.url())
        .credentials(keys("AKIDEXAMPLE", "not-a-real-secret"))
        .backoff(Duration::from_millis(1), Duration::from_millis(2))
        // So that nothing hangs. No test waits for it.
        .timeout(Duration::from_secs(20))
}

fn keys(access_key_id: &str, secret_access_key: &str) -> Credentials {
    Credentials::new(access_key_id, secret_access_key, None, None, "test")
}

fn client(server: &Scripted) -> Client {
    builder(server).build().unwrap()
}

/// 200 with this body.
fn ok(body: impl AsRef<[u8]>) -> Reply {
    Reply::response("200 OK", &[], body)
}

/// An error of Lambda.
fn refusal(status: &str, code: &str) -> Reply {
    Reply::response(status, &[("x-amzn-ErrorType", code)], r#"{"message":"m"}"#)
}
