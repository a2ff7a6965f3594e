//! cargo-lambda: payloads and responses through its Invoke API.

use std::iter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use http::{Request, StatusCode};
use presized_lambda_invoke::{Client, ClientBuilder, ErrorKind, HttpVersion};
use presized_support::cargo_lambda::{self, BASE_PATH, FUNCTION};
use presized_support::pattern::{Pattern, is_whole};
use presized_support::process::Process;

use crate::{any_credentials, client, plain, service_error, within_time};

#[tokio::test]
async fn payload_of_any_length_is_echoed() {
    within_time(async {
        let Some(server) = CargoLambda::start() else { return };
        for version in [HttpVersion::Http1, HttpVersion::Http2] {
            let client = server.client(|client| client.http_version(version));
            for length in [0, 1, 2047, 2048, 100_000, 6 << 20] {
                let mut pattern = Pattern::of(length);
                let payload = iter::from_fn(|| pattern.next_frame()).collect::<Vec<_>>().concat();
                let response = client.invoke(FUNCTION).payload(payload).send().await.unwrap();
                assert!(is_whole(&response.payload, length), "{version:?}, {length} bytes");
                assert_eq!((response.status, response.attempts), (StatusCode::OK, 1));
                assert!(response.function_error.is_none());
            }
        }
        assert_eq!(server.executed.load(SeqCst), 12);
    })
    .await;
}

#[tokio::test]
async fn endpoint_may_end_with_a_slash() {
    within_time(async {
        let Some(server) = CargoLambda::start() else { return };
        let url = format!("http://{}/", server.process.address(0));
        let client = server.client(|client| client.endpoint(url));
        assert_eq!(client.invoke(FUNCTION).payload("1").send().await.unwrap().payload, "1");
    })
    .await;
}

#[tokio::test]
async fn response_over_the_limit_is_refused() {
    within_time(async {
        let Some(server) = CargoLambda::start() else { return };
        let client = server.client(|client| client.reader(1000));
        let response = client.invoke(FUNCTION).payload("x".repeat(1000)).send().await.unwrap();
        assert_eq!(response.payload.len(), 1000);
        let error = client.invoke(FUNCTION).payload("x".repeat(1001)).send().await.unwrap_err();
        assert!(error.is_too_large() && error.may_have_run(), "{error:?}");
        assert_eq!((error.attempts(), server.executed.load(SeqCst)), (1, 2));
    })
    .await;
}

// cargo-lambda reports a failed function with status 500, and Lambda with status 200.
#[tokio::test]
async fn error_report_of_a_failed_function_is_kept() {
    within_time(async {
        let Some(server) = CargoLambda::start() else { return };
        let client = server.client(|client| client.max_attempts(1));
        let error = client.invoke(FUNCTION).payload(FAIL).send().await.unwrap_err();
        let ErrorKind::Service(error) = error.into_kind() else { panic!("not a service error") };
        assert_eq!((error.status, error.code), (StatusCode::INTERNAL_SERVER_ERROR, None));
        assert_eq!(error.body, REPORT);
        assert_eq!(server.executed.load(SeqCst), 1);
    })
    .await;
}

#[tokio::test]
async fn unknown_function_is_a_service_error() {
    within_time(async {
        let Some(server) = CargoLambda::start() else { return };
        let client = server.client(|client| client);
        for name in ["unknown", "unknown:live", "arn:aws:lambda:us-east-1:1:function:unknown"] {
            let error = service_error(client.invoke(name).payload("1").send().await.unwrap_err());
            assert_eq!((error.status, error.code), (StatusCode::NOT_FOUND, None), "{name}");
            let body = String::from_utf8_lossy(&error.body);
            assert!(body.contains("doesn't exist as a binary"), "{body}");
        }
        assert_eq!(server.executed.load(SeqCst), 0);
    })
    .await;
}

/// The payload that makes the function fail.
const FAIL: &str = "fail";

/// The error report of the function.
const REPORT: &str = r#"{"errorType":"Fruit.Missing","errorMessage":"no such fruit"}"#;

struct CargoLambda {
    process: Process,
    /// The number of invocations.
    executed: Arc<AtomicUsize>,
}

impl CargoLambda {
    /// Starts cargo-lambda. Returns `None` if it is not installed.
    fn start() -> Option<Self> {
        let process = cargo_lambda::start()?;
        let address = process.address(0);
        let executed = Arc::new(AtomicUsize::new(0));
        tokio::spawn(run_function(address, executed.clone()));
        Some(Self { process, executed })
    }

    fn client(&self, settings: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Client {
        settings(client(self.process.address(0), &any_credentials())).build().unwrap()
    }
}

/// Runs the function until the test ends.
async fn run_function(address: SocketAddr, executed: Arc<AtomicUsize>) -> hyper::Result<()> {
    loop {
        let next = Request::get(format!("{BASE_PATH}/{RUNTIME}/next"));
        let event = plain::send(address, next, "").await?;
        let Some(id) = event.headers().get("lambda-runtime-aws-request-id") else {
            // No invocation arrived for a while: status 204.
            continue;
        };
        let id = id.to_str().unwrap().to_owned();
        executed.fetch_add(1, SeqCst);
        let (kind, body) = match event.into_body() {
            event if event == FAIL => ("error", REPORT.into()),
            event => ("response", event),
        };
        let response =
            plain::send(address, Request::post(format!("{BASE_PATH}/{RUNTIME}/{id}/{kind}")), body);
        assert!(response.await?.status().is_success());
    }
}

const RUNTIME: &str = "2018-06-01/runtime/invocation";
