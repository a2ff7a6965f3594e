//! serverless-offline: responses of functions, and a server that closes idle connections.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use http::StatusCode;
use presized_lambda_invoke::{Client, FunctionErrorKind, InvocationType, PayloadError};
use presized_support::process::{Process, pinned_peer};
use serde_json::{Value, json};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::sleep;

use crate::{any_credentials, client, service_error, within_time};

#[tokio::test]
async fn payload_is_the_value_that_the_function_returned() {
    let Some(server) = Serverless::start() else { return };
    within_time(async {
        let client = server.client();
        for value in [
            json!({}),
            json!({"fruit": ["apple", "pear"], "price": 1.5, "none": null}),
            json!(["x".repeat(100_000)]),
            json!(["κεράσι".repeat(300_000)]),
        ] {
            let response = client.invoke("peers-test-echo").json(&value).send().await.unwrap();
            assert!(response.json::<Value>().unwrap() == value);
            assert_eq!((response.status, response.attempts), (StatusCode::OK, 1));
        }
        // serverless-offline replaces an empty payload by an empty object.
        let response = client.invoke("peers-test-echo").send().await.unwrap();
        assert_eq!(response.payload, "{}");
    })
    .await;
}

#[tokio::test]
async fn client_context_reaches_the_function() {
    let Some(server) = Serverless::start() else { return };
    within_time(async {
        let context = json!({"custom": {"who": "κάποιος"}});
        let call = server.client().invoke("peers-test-context").client_context(context.to_string());
        assert_eq!(call.send().await.unwrap().json::<Value>().unwrap(), context);
    })
    .await;
}

#[tokio::test]
async fn function_error_is_parsed() {
    let Some(server) = Serverless::start() else { return };
    within_time(async {
        let response = server.client().invoke("peers-test-fail").json("fail").send().await.unwrap();
        assert_eq!((response.status, response.attempts), (StatusCode::OK, 1));
        assert!(matches!(response.text(), Err(PayloadError::Function(_))));
        let payload = response.payload.clone();
        let error = response.into_result().unwrap_err();
        assert_eq!(error.kind, FunctionErrorKind::Unhandled);
        // serverless-offline writes this type for all errors.
        assert_eq!(error.error_type.as_deref(), Some("Error"));
        assert_eq!(error.error_message.as_deref(), Some("no such fruit"));
        assert_eq!(error.stack_trace[0], "TypeError: no such fruit");
        assert!(error.stack_trace[1].contains("handler.js"), "{:?}", error.stack_trace);
        assert_eq!(error.payload, payload);
        assert_eq!(server.recorded("fail"), 1);
    })
    .await;
}

#[tokio::test]
async fn event_is_accepted_and_runs_once() {
    let Some(server) = Serverless::start() else { return };
    within_time(async {
        let call = server.client().invoke("peers-test-record").json("event");
        let response = call.invocation_type(InvocationType::Event).send().await.unwrap();
        assert_eq!((response.status, &response.payload[..]), (StatusCode::ACCEPTED, &b""[..]));
        assert_eq!(response.text().unwrap(), "");
        while server.recorded("event") == 0 {
            sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(server.recorded("event"), 1);
    })
    .await;
}

#[tokio::test]
async fn refused_call_is_a_service_error() {
    let Some(server) = Serverless::start() else { return };
    within_time(async {
        let client = server.client();
        let error = client.invoke("peers-test-unknown").json("unknown").send().await.unwrap_err();
        let error = service_error(error);
        assert_eq!(error.status, StatusCode::NOT_FOUND);
        assert_eq!(error.code.as_deref(), Some("ResourceNotFoundException"));
        assert_eq!(error.message.as_deref(), Some("Function not found: peers-test-unknown"));

        let call = client.invoke("peers-test-record").json("dry run");
        let error = call.invocation_type(InvocationType::DryRun).send().await.unwrap_err();
        let error = service_error(error);
        assert_eq!(error.status, StatusCode::BAD_REQUEST);
        assert_eq!(error.code.as_deref(), Some("InvalidParameterValueException"));
        assert_eq!(server.recorded("dry run"), 0);
    })
    .await;
}

#[tokio::test]
async fn connection_closed_while_idle_fails_no_call() {
    let Some(server) = Serverless::start() else { return };
    within_time(async {
        let client = server.client();
        record_all(&client).await;
        let same = server.clone();
        spawn_blocking(move || same.wait_until_idle_is_closed()).await.unwrap();
        record_all(&client).await;
        // It blocks the only thread of the runtime, as if the process were frozen.
        server.wait_until_idle_is_closed();
        record_all(&client).await;
        for number in 0..CONNECTIONS {
            assert_eq!(server.recorded(&format!("idle {number}")), 3);
        }
    })
    .await;
}

/// Makes calls at the same time, each on its own connection.
async fn record_all(client: &Client) {
    let mut calls = JoinSet::new();
    for number in 0..CONNECTIONS {
        let call = client.invoke("peers-test-record").json(&format!("idle {number}"));
        calls.spawn(call.send());
    }
    for response in calls.join_all().await {
        assert_eq!(response.unwrap().attempts, 1);
    }
}

const CONNECTIONS: usize = 4;

#[derive(Clone)]
struct Serverless(Arc<Process>);

impl Serverless {
    /// Returns serverless-offline, or `None` if it is not installed. Tests that run at the same time
    /// share one process, because it takes seconds to start.
    fn start() -> Option<Self> {
        static RUNNING: Mutex<Weak<Process>> = Mutex::new(Weak::new());
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(process) = running.upgrade() {
            return Some(Self(process));
        }
        let program = pinned_peer("serverless-offline")?;
        let process = Arc::new(Process::start(1, "listening on", |directory, ports| {
            fs::write(directory.join("serverless.yml"), SERVICE).unwrap();
            fs::write(directory.join("handler.js"), HANDLERS).unwrap();
            let mut command = Command::new(&program);
            command.args(["start", "--host", "127.0.0.1", "--noTimeout", "--lambdaPort"]);
            command.arg(ports[0].to_string()).current_dir(directory);
            // The directory of its generated files.
            command.env("HOME", directory);
            command.envs([("SLS_TELEMETRY_DISABLED", "1"), ("SLS_NOTIFICATIONS_MODE", "off")]);
            command
        }));
        *running = Arc::downgrade(&process);
        Some(Self(process))
    }

    fn client(&self) -> Client {
        client(self.0.address(0), &any_credentials()).build().unwrap()
    }

    /// Returns the number of times that a function recorded this event.
    fn recorded(&self, event: &str) -> usize {
        let record = fs::read_to_string(self.0.directory().join("record")).unwrap_or_default();
        record.lines().filter(|&line| line == event).count()
    }

    /// Blocks until the server has closed a connection that becomes idle now.
    fn wait_until_idle_is_closed(&self) {
        let mut stream = TcpStream::connect(self.0.address(0)).unwrap();
        stream.write_all(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").unwrap();
        let mut response = String::new();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.read_to_string(&mut response).unwrap();
        assert!(response.to_ascii_lowercase().contains("connection: keep-alive"), "{response}");
    }
}

const SERVICE: &str = "
service: peers
frameworkVersion: '3'
plugins: [serverless-offline]
provider: { name: aws, runtime: nodejs18.x, region: us-east-1, stage: test }
functions:
  echo: { handler: handler.echo }
  context: { handler: handler.context }
  fail: { handler: handler.fail }
  record: { handler: handler.record }
";

const HANDLERS: &str = r#"
const { appendFileSync } = require("node:fs");
const { join } = require("node:path");
const record = (event) => appendFileSync(join(__dirname, "record"), `${event}\n`);
exports.echo = async (event) => event;
exports.context = async (event, context) => context.clientContext;
exports.fail = async (event) => { record(event); throw new TypeError("no such fruit"); };
exports.record = async (event) => { record(event); return event; };
"#;
