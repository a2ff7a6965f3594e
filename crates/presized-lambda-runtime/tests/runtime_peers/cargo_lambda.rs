//! cargo-lambda: its Runtime API, behind a base path.

use std::future::pending;

use presized_lambda_invoke::{Client, ErrorKind};
use presized_lambda_runtime::{Runtime, RuntimeClient, raw};
use presized_support::cargo_lambda::{self, BASE_PATH, FUNCTION};
use presized_support::process::Process;

use crate::function::{FAILURE, MESSAGE, content, function};
use crate::report::Report;
use crate::{ANSWER_MAX, within_time};

#[tokio::test]
async fn an_echo_is_the_same_byte_for_byte() {
    let Some(server) = CargoLambda::start() else { return };
    within_time(async {
        for length in [0, 1, 2047, 2048, 2049, 60_000, 6_000_000] {
            let sent = content(length);
            let answer = crate::invoke(&server.client, FUNCTION, sent.clone()).await;
            assert!(answer == sent, "{length} bytes");
        }
        let answer = crate::invoke(&server.client, FUNCTION, format!("answer {ANSWER_MAX}")).await;
        assert!(answer == content(ANSWER_MAX));
    })
    .await;
}

// It gives the report back with status 500.
#[tokio::test]
async fn errors_and_panics_are_reported_and_the_next_is_served() {
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

// It has nobody to give a stream to who has not asked for one, and takes it all the same.
#[tokio::test]
async fn a_stream_is_no_harm_to_the_next_invocation() {
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
    // Last: the runtime is to see nothing of its end.
    _process: Process,
}

impl CargoLambda {
    /// None where cargo-lambda is not installed.
    fn start() -> Option<Self> {
        let process = cargo_lambda::start()?;
        let address = process.address(0);
        // As it tells functions in AWS_LAMBDA_RUNTIME_API.
        let endpoint = format!("http://{address}{BASE_PATH}");
        let runtime_client = RuntimeClient::builder().endpoint(endpoint).build().unwrap();
        let runtime = Runtime::new(raw(function)).client(runtime_client).shutdown(pending());
        // To fail rather than to leave the caller waiting.
        tokio::spawn(async move { runtime.run().await.unwrap() });
        Some(Self { client: crate::client(address), _process: process })
    }

    /// The body of its response with status 500.
    async fn refused(&self, event: &'static str) -> bytes::Bytes {
        let error = self.client.invoke(FUNCTION).payload(event).send().await.unwrap_err();
        let ErrorKind::Service(error) = error.into_kind() else { panic!("{event}") };
        assert_eq!(error.status, 500);
        error.body
    }
}
