//! cargo-lambda: what its Invoke API hands to a function, and back.

use std::iter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use http::{Request, StatusCode};
use presized_lambda_invoke::{Client, ClientBuilder, ErrorKind, HttpVersion};
use presized_support::cargo_lambda::{self, BASE_PATH, FUNCTION};
use presized_support::pattern::{Pattern, is_whole};
use presized_support::process::Process;

use crate::{any_credentials, client, plain, refusal, within_time};

#[tokio::test]
async fn any_bytes_go_to_the_function_and_come_back() {
    within_time(async {
        let Some(server) = CargoLambda::start() else { return };
        for version in [HttpVersion::Http1, HttpVersion::Http2] {
            let client = server.client(|client| client.http_version(version));
            for length in [0, 1, 2047, 2048, 100_000, 6 << 20] {
                let mut pattern = Pattern::of(length);
                let payload = iter::from_fn(|| pattern.next_frame()).collect::<Vec<_>>().concat();
                let answer = client.invoke(FUNCTION).payload(payload).send().await.unwrap();
                assert!(is_whole(&answer.payload, length), "{version:?}, {length} bytes");
                assert_eq!((answer.status, answer.attempts), (StatusCode::OK, 1));
                assert!(answer.function_error.is_none());
            }
        }
        assert_eq!(server.executed.load(SeqCst), 12);
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_may_end_in_a_slash() {
    within_time(async {
        let Some(server) = CargoLambda::start() else { return };
        let url = format!("http://{}/", server.process.address(0));
        let client = server.client(|client| client.endpoint(url));
        assert_eq!(client.invoke(FUNCTION).payload("1").send().await.unwrap().payload, "1");
    })
    .await;
}

#[tokio::test]
async fn an_answer_over_the_limit_is_refused() {
    within_time(async {
        let Some(server) = CargoLambda::start() else { return };
        let client = server.client(|client| client.reader(1000));
        let answer = client.invoke(FUNCTION).payload("x".repeat(1000)).send().await.unwrap();
        assert_eq!(answer.payload.len(), 1000);
        let error = client.invoke(FUNCTION).payload("x".repeat(1001)).send().await.unwrap_err();
        assert!(error.is_too_large() && error.may_have_run(), "{error:?}");
        assert_eq!((error.attempts(), server.executed.load(SeqCst)), (1, 2));
    })
    .await;
}

// It answers with status 500 and the report of the function, where Lambda has a 200.
#[tokio::test]
async fn the_report_of_a_failed_function_is_kept() {
    within_time(async {
        let Some(server) = CargoLambda::start() else { return };
        let client = server.client(|client| client.max_attempts(1));
        let error = client.invoke(FUNCTION).payload(FAIL).send().await.unwrap_err();
        let ErrorKind::Service(error) = error.into_kind() else { panic!("an error of another") };
        assert_eq!((error.status, error.code), (StatusCode::INTERNAL_SERVER_ERROR, None));
        assert_eq!(error.body, REPORT);
        assert_eq!(server.executed.load(SeqCst), 1);
    })
    .await;
}

#[tokio::test]
async fn an_unknown_function_is_a_service_error() {
    within_time(async {
        let Some(server) = CargoLambda::start() else { return };
        let client = server.client(|client| client);
        for name in ["nobody", "nobody:live", "arn:aws:lambda:us-east-1:1:function:nobody"] {
            let refusal = refusal(client.invoke(name).payload("1").send().await.unwrap_err());
            assert_eq!((refusal.status, refusal.code), (StatusCode::NOT_FOUND, None), "{name}");
            let body = String::from_utf8_lossy(&refusal.body);
            assert!(body.contains("doesn't exist as a binary"), "{body}");
        }
        assert_eq!(server.executed.load(SeqCst), 0);
    })
    .await;
}

/// What it is given to fail.
const FAIL: &str = "fail";

/// What it says then.
const REPORT: &str = r#"{"errorType":"Fruit.Missing","errorMessage":"no such fruit"}"#;

struct CargoLambda {
    process: Process,
    /// How many times the function was.
    executed: Arc<AtomicUsize>,
}

impl CargoLambda {
    /// None where cargo-lambda is not installed.
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

/// The runtime of the function, until the test is over.
async fn run_function(address: SocketAddr, executed: Arc<AtomicUsize>) -> hyper::Result<()> {
    loop {
        let next = Request::get(format!("{BASE_PATH}/{RUNTIME}/next"));
        let event = plain::send(address, next, "").await?;
        let Some(id) = event.headers().get("lambda-runtime-aws-request-id") else {
            // Nobody has called for a while: status 204.
            continue;
        };
        let id = id.to_str().unwrap().to_owned();
        executed.fetch_add(1, SeqCst);
        let (kind, answer) = match event.into_body() {
            event if event == FAIL => ("error", REPORT.into()),
            event => ("response", event),
        };
        let answer = plain::send(
            address,
            Request::post(format!("{BASE_PATH}/{RUNTIME}/{id}/{kind}")),
            answer,
        );
        assert!(answer.await?.status().is_success());
    }
}

const RUNTIME: &str = "2018-06-01/runtime/invocation";
