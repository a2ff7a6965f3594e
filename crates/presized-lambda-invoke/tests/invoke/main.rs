//! The Invoke client against servers that send scripted bytes.

mod budget;
mod credentials;
mod deadlines;
mod keep_alive;
mod quota;
mod refusals;
mod reports;
mod requests;
mod resets;
mod responses;
mod retries;
mod secrets;
mod service_errors;
mod texts;

use std::time::Duration;

use aws_credential_types::Credentials;
use presized_lambda_invoke::{Client, ClientBuilder};
use presized_support::scripted::{Reply, Scripted};

/// Returns the settings of a client of `server`, with short waits.
fn builder(server: &Scripted) -> ClientBuilder {
    let mut builder = Client::builder();
    if let Some(certificate) = server.certificate_pem() {
        // An error means that another test has installed it. The crate has none without features.
        let _ = rustls::crypto::ring::default_provider().install_default();
        builder = builder.system_roots(false).root_certificates_pem(certificate);
    }
    builder
        .region("us-east-1")
        .endpoint(server.url())
        .credentials(keys("AKIDEXAMPLE", "not-a-real-secret"))
        .backoff(Duration::from_millis(1), Duration::from_millis(2))
        // A test that hangs fails. No test waits for it.
        .timeout(Duration::from_secs(20))
}

fn keys(access_key_id: &str, secret_access_key: &str) -> Credentials {
    Credentials::new(access_key_id, secret_access_key, None, None, "test")
}

fn client(server: &Scripted) -> Client {
    builder(server).build().unwrap()
}

/// Makes a response with status 200.
fn ok(body: impl AsRef<[u8]>) -> Reply {
    Reply::response("200 OK", &[], body)
}

/// Makes an error response of Lambda.
fn service_error(status: &str, code: &str) -> Reply {
    Reply::response(status, &[("x-amzn-ErrorType", code)], r#"{"message":"m"}"#)
}
