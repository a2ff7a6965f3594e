//! The runtime against cargo-lambda, whose Runtime API has a base path.

use std::future::pending;

use presized_lambda_invoke::{Client, ErrorKind};
use presized_lambda_runtime::{Runtime, RuntimeClient, raw};
use presized_support::cargo_lambda::{self, BASE_PATH, FUNCTION};
use presized_support::process::Process;

use crate::function::{FAILURE, MESSAGE, content, function};
use crate::report::Report;
use crate::{RESPONSE_MAX, within_time};

#[tokio::test]
async fn event_of_any_length_is_echoed() {
    let Some(server) = CargoLambda::start() else { return };
    within_time(async {
        for length in [0, 1, 2047, 2048, 2049, 60_000, 6_000_000] {
            let sent = content(length);
            let response = crate::invoke(&server.client, FUNCTION, sent.clone()).await;
            assert!(response == sent, "{length} bytes");
        }
        let response =
            crate::invoke(&server.client, FUNCTION, format!("respond {RESPONSE_MAX}")).await;
        assert!(response == content(RESPONSE_MAX));
    })
    .await;
}

// cargo-lambda returns the report with status 500.
#[tokio::test]
async fn next_call_succeeds_after_an_error_and_a_panic() {
    let Some(server) = CargoLambda::start() else { return };
    within_time(async {
        for (command, error_type) in [("fail", FAILURE), ("panic", "Function.Panic")] {
            let body = server.refused(command).await;
            assert_eq!(Report::of(&body), Report::new(error_type, MESSAGE));
            assert_eq!(crate::invoke(&server.client, FUNCTION, "after").await, "after");
        }
    })
    .await;
}

// cargo-lambda accepts a stream, and drops it if the caller did not ask for one.
#[tokio::test]
async fn next_call_succeeds_after_a_stream() {
    let Some(server) = CargoLambda::start() else { return };
    within_time(async {
        for command in ["stream", "broken"] {
            server.refused(command).await;
            assert_eq!(crate::invoke(&server.client, FUNCTION, "after").await, "after");
        }
    })
    .await;
}

struct CargoLambda {
    client: Client,
    // Last, so that the runtime does not see the end of the server.
    _process: Process,
}

impl CargoLambda {
    /// Returns `None` if cargo-lambda is not installed.
    fn start() -> Option<Self> {
        let process = cargo_lambda::start()?;
        let address = process.address(0);
        // The value that cargo-lambda puts into AWS_LAMBDA_RUNTIME_API.
        let endpoint = format!("http://{address}{BASE_PATH}");
        let runtime_client = RuntimeClient::builder().endpoint(endpoint).build().unwrap();
        let runtime = Runtime::new(raw(function)).client(runtime_client).shutdown(pending());
        // A panic fails the test, where an error would leave the caller waiting.
        tokio::spawn(async move { runtime.run().await.unwrap() });
        Some(Self { client: crate::client(address), _process: process })
    }

    /// Returns the body of a response with status 500.
    async fn refused(&self, event: &'static str) -> bytes::Bytes {
        let error = self.client.invoke(FUNCTION).payload(event).send().await.unwrap_err();
        let ErrorKind::Service(error) = error.into_kind() else { panic!("{event}") };
        assert_eq!(error.status, 500);
        error.body
    }
}
