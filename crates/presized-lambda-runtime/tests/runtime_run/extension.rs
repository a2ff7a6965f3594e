//! The internal extension for which Lambda sends SIGTERM.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use presized_lambda_runtime::{Context, Handler, Runtime, raw};
use presized_support::scripted::{Recorded, Reply, Scripted};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::{PATIENCE, accepted, client, event, path};

const REGISTER: &str = "/2020-01-01/extension/register";

const NEXT: &str = "/2020-01-01/extension/event/next";

fn echo() -> impl Handler {
    raw(async |event: Bytes, _: Context| Ok::<_, Infallible>(event))
}

/// Runs a function with one invocation. The server replies to a registration with `registered`, and
/// sends the invocation once the extension waits, if `waits`. Returns all requests.
async fn run(registered: Reply, waits: bool) -> Vec<Recorded> {
    let (served, waiting) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (ends, begins) = (Arc::clone(&served), Arc::clone(&waiting));
    let is_first = AtomicBool::new(true);
    let server = Scripted::start(move |_, request| match path(request) {
        REGISTER => registered.clone(),
        NEXT => {
            begins.notify_one();
            Reply::Hang("".into())
        }
        "invocation/next" if is_first.swap(false, Ordering::SeqCst) => event("a", "hello"),
        "invocation/next" => Reply::Hang("".into()),
        _ => {
            ends.notify_one();
            accepted()
        }
    });
    let runtime = Runtime::new(echo()).client(client(&server)).graceful_shutdown(true);
    let runtime = runtime.shutdown(async move {
        served.notified().await;
        if waits {
            waiting.notified().await;
        }
    });
    timeout(PATIENCE, runtime.run()).await.expect("ends in 20 s").unwrap();
    server.requests()
}

#[tokio::test]
async fn extension_is_registered_for_no_event_before_the_first_invocation() {
    let id = [("Lambda-Extension-Identifier", "e-1")];
    let requests = run(Reply::response("200 OK", &id, "{}"), true).await;
    assert_eq!(requests[0].target(), REGISTER);
    assert_eq!(requests[0].body, br#"{"events":[]}"#);
    let name = requests[0].header("lambda-extension-name");
    assert_eq!(name, Some("presized-lambda-runtime-graceful-shutdown"));
    let waits: Vec<_> = requests.iter().filter(|request| request.target() == NEXT).collect();
    assert_eq!(waits.len(), 1);
    assert!(waits[0].head.starts_with("GET "));
    assert_eq!(waits[0].header("lambda-extension-identifier"), Some("e-1"));
    assert!(requests.iter().any(|request| path(request) == "a/response"));
}

#[tokio::test]
async fn function_runs_without_an_extension_if_the_server_has_none() {
    for registered in [
        Reply::response("404 Not Found", &[], "{}"),
        Reply::response("200 OK", &[], "{}"),
        Reply::Close("".into()),
    ] {
        let requests = run(registered, false).await;
        assert!(requests.iter().all(|request| request.target() != NEXT));
        assert!(requests.iter().any(|request| path(request) == "a/response"));
    }
}

#[tokio::test]
async fn shutdown_signal_ends_a_registration_without_a_reply() {
    let registers = Arc::new(Notify::new());
    let begins = Arc::clone(&registers);
    let server = Scripted::start(move |_, _| {
        begins.notify_one();
        Reply::Hang("".into())
    });
    let runtime = Runtime::new(echo()).client(client(&server)).graceful_shutdown(true);
    let runtime = runtime.shutdown(async move { registers.notified().await });
    timeout(PATIENCE, runtime.run()).await.expect("ends in 20 s").unwrap();
    let requests = server.requests();
    assert_eq!(requests.iter().map(Recorded::target).collect::<Vec<_>>(), [REGISTER]);
}

#[tokio::test]
async fn function_registers_no_extension_unless_it_is_set() {
    let api = super::Api::new([event("a", "")]);
    api.serve(echo()).await;
    assert!(api.paths().iter().all(|path| path != REGISTER));
}
