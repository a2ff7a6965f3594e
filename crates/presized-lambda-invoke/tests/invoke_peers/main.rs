//! The client of the Invoke API before servers that others have written.
//!
//! A test whose server is not installed says so and passes, unless the environment has
//! `PRESIZED_REQUIRE_PEERS=1`. `.ci/peers/install` installs them all.

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

/// A client of the server at this address.
fn client(address: SocketAddr, credentials: &Credentials) -> ClientBuilder {
    Client::builder()
        .endpoint(format!("http://{address}"))
        .region(REGION)
        .credentials(credentials.clone())
}

/// For servers that do not look at a signature.
fn any_credentials() -> Credentials {
    Credentials::new("AKIDEXAMPLE", "secret", None, None, "test")
}

/// What the server refused a call with. Its answer was the only one.
#[track_caller]
fn refusal(error: Error) -> ServiceError {
    assert_eq!(error.attempts(), 1, "{error:?}");
    assert!(!error.may_have_run(), "{error:?}");
    let ErrorKind::Service(error) = error.into_kind() else { panic!("the server did not refuse") };
    error
}

async fn within_time<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(60), future).await.expect("hangs")
}

const REGION: &str = "us-east-1";
