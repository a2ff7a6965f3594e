//! The Invoke client against servers of other projects.
//!
//! A test whose server is not installed prints so and passes, unless the environment has
//! `PRESIZED_REQUIRE_PEERS=1`. `.ci/peers/install` installs the servers.

mod cargo_lambda;
mod moto;
mod plain;
mod serverless;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use aws_credential_types::Credentials;
use presized_lambda_invoke::{Client, ClientBuilder, Error, ErrorKind, ServiceError};
use tokio::time::timeout;

/// Returns the settings of a client of the server at this address.
fn client(address: SocketAddr, credentials: &Credentials) -> ClientBuilder {
    Client::builder()
        .endpoint(format!("http://{address}"))
        .region(REGION)
        .credentials(credentials.clone())
}

/// Returns credentials for servers that do not verify signatures.
fn any_credentials() -> Credentials {
    Credentials::new("AKIDEXAMPLE", "secret", None, None, "test")
}

/// Returns the service error of a call that had one attempt.
#[track_caller]
fn service_error(error: Error) -> ServiceError {
    assert_eq!(error.attempts(), 1, "{error:?}");
    assert!(!error.may_have_run(), "{error:?}");
    let ErrorKind::Service(error) = error.into_kind() else { panic!("not a service error") };
    error
}

async fn within_time<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(60), future).await.expect("hangs")
}

const REGION: &str = "us-east-1";
