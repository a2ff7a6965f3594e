//! `RuntimeClient` against servers that send what a test says, byte for byte.

mod connections;
mod early;
mod events;
mod hostile;
mod life;
mod responses;
mod streams;

use std::future::Future;
use std::time::Duration;

use presized_lambda_runtime::{Invocation, RuntimeClient};
use presized_support::scripted::{Reply, Scripted};

fn client(server: &Scripted) -> RuntimeClient {
    RuntimeClient::builder().endpoint(server.address().to_string()).build().unwrap()
}

/// Returns an invocation with the request id `a`, no other header, and this event.
fn event(body: impl AsRef<[u8]>) -> Reply {
    Reply::response("200 OK", &[("Lambda-Runtime-Aws-Request-Id", "a")], body)
}

fn accepted() -> Reply {
    Reply::response("202 Accepted", &[], "{\"status\":\"OK\"}\n")
}

/// Returns an error of the Runtime API.
fn refusal(status: &str, error_type: &str) -> Reply {
    let body = format!(r#"{{"errorMessage":"m","errorType":"{error_type}"}}"#);
    Reply::response(status, &[("Content-Type", "application/json")], body)
}

/// Returns the next invocation, which must be there.
async fn next(client: &RuntimeClient) -> Invocation {
    in_time(client.next()).await.unwrap()
}

/// Awaits `future`, and fails instead of hanging. No test waits for the timeout.
async fn in_time<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("an end in time")
}

/// Returns the method and the path of each request so far.
fn seen(server: &Scripted) -> Vec<String> {
    let requests = server.requests();
    let line = |head: &str| head.split(" HTTP/").next().unwrap_or_default().to_owned();
    requests.iter().map(|request| line(&request.head)).collect()
}

const GET_NEXT: &str = "GET /2018-06-01/runtime/invocation/next";

const POST_RESPONSE: &str = "POST /2018-06-01/runtime/invocation/a/response";

const POST_ERROR: &str = "POST /2018-06-01/runtime/invocation/a/error";
