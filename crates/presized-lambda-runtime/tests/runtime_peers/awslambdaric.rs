//! awslambdaric, the runtime of Lambda for Python, against the emulator.

use std::process::Command;

use bytes::Bytes;
use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_invoke::{Client, FunctionErrorKind};
use presized_support::process::pinned_peer;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::{PATIENCE, RESPONSE_MAX, within_time};

#[tokio::test]
async fn json_of_any_length_is_echoed() {
    let Some(python) = Python::start(Function::new()).await else { return };
    within_time(async {
        for length in [4, 2047, 2048, 2049, 60_000, 6_000_000] {
            // The letter takes two bytes, and JSON adds two quotes.
            let event = json!("é".to_owned() + &"x".repeat(length - 4));
            let response = python.client.invoke(NAME).json(&event).send().await.unwrap();
            assert!(response.json::<Value>().unwrap() == event, "{length} bytes");
        }
    })
    .await;
    assert_eq!(python.emulator.stats(NAME).unwrap().responses, 6);
}

#[tokio::test]
async fn function_receives_the_context_of_the_call() {
    let Some(python) = Python::start(Function::new().memory_size(512)).await else { return };
    within_time(async {
        let call = python
            .client
            .invoke(NAME)
            .json("context")
            .client_context(json!({"custom": {"who": "κάποιος"}}).to_string())
            .tenant_id("blue")
            .tail_log();
        let response = call.send().await.unwrap();
        let context = response.json::<Value>().unwrap();
        assert_eq!(context["name"], NAME);
        assert_eq!(context["memory"], "512");
        assert_eq!(context["version"], "$LATEST");
        assert_eq!(context["request_id"].as_str(), response.request_id.as_deref());
        let arn = context["arn"].as_str().unwrap();
        assert!(arn.starts_with("arn:aws:lambda:") && arn.ends_with(":function:python"), "{arn}");
        assert_eq!(context["custom"], json!({"who": "κάποιος"}));
        assert_eq!(context["tenant"], "blue");
        assert_eq!(context["in_time"], true);
        assert!(context["trace"].as_str().unwrap().starts_with("Root=1-"), "{context}");
        let log = response.log_text().unwrap();
        assert!(log.contains("printed by the function\n"), "{log}");
    })
    .await;
}

#[tokio::test]
async fn exception_is_a_function_error() {
    let Some(python) = Python::start(Function::new()).await else { return };
    within_time(async {
        let response = python.client.invoke(NAME).json("fail").send().await.unwrap();
        let error = response.function_error.unwrap();
        assert_eq!(error.kind, FunctionErrorKind::Unhandled);
        assert_eq!(error.error_type.as_deref(), Some("LookupError"));
        assert_eq!(error.error_message.as_deref(), Some("no such fruit"));
        assert!(error.stack_trace[0].contains("app.py"), "{:?}", error.stack_trace);
        assert_eq!(python.text("after").await, "after");
    })
    .await;
}

#[tokio::test]
async fn next_call_succeeds_after_a_response_over_the_limit_or_an_exit() {
    let Some(python) = Python::start(Function::new()).await else { return };
    within_time(async {
        // JSON adds two quotes.
        assert_eq!(
            python.text(&format!("respond {}", RESPONSE_MAX - 2)).await.len(),
            RESPONSE_MAX - 2
        );
        for (event, error_type) in [
            (format!("respond {}", RESPONSE_MAX - 1), "Function.ResponseSizeTooLarge"),
            ("exit".to_owned(), "Runtime.ExitError"),
        ] {
            let response = python.client.invoke(NAME).json(&event).send().await.unwrap();
            let error = response.function_error.unwrap();
            assert_eq!(error.error_type.as_deref(), Some(error_type));
            assert_eq!(python.text("after").await, "after");
        }
    })
    .await;
}

#[tokio::test]
async fn function_that_cannot_be_loaded_reports_why() {
    let function = Function::new();
    let Some(python) = Python::start_with("app.missing", function).await else { return };
    within_time(async {
        let response = python.client.invoke(NAME).json("1").send().await.unwrap();
        let error = response.function_error.unwrap();
        assert_eq!(error.error_type.as_deref(), Some("Runtime.HandlerNotFound"));
        assert_eq!(python.emulator.stats(NAME).unwrap().started, 0);
    })
    .await;
}

// awslambdaric has a process for each.
#[tokio::test]
async fn four_concurrent_calls_get_their_own_responses() {
    let Some(python) = Python::start(Function::new().concurrency(4)).await else { return };
    within_time(async {
        for _ in 0..4 {
            let mut calls = JoinSet::new();
            for number in 0..4 {
                let call = python.client.invoke(NAME).json(&format!("meet {number}"));
                calls.spawn(async move {
                    let response = call.send().await.unwrap();
                    assert_eq!(response.json::<String>().unwrap(), format!("meet {number}"));
                });
            }
            calls.join_all().await;
            // Removes the files of this round.
            assert_eq!(python.text("forget").await, "forget");
        }
    })
    .await;
    assert_eq!(python.emulator.stats(NAME).unwrap().started, 20);
}

struct Python {
    client: Client,
    emulator: Emulator,
    // Last, because it is the current directory of the function.
    _directory: TempDir,
}

impl Python {
    /// Returns `None` if Python with awslambdaric is not installed.
    async fn start(function: Function) -> Option<Self> {
        Self::start_with("app.handler", function).await
    }

    async fn start_with(handler: &str, function: Function) -> Option<Self> {
        let mut command = Command::new(pinned_peer("python")?);
        let directory = TempDir::new().unwrap();
        std::fs::write(directory.path().join("app.py"), include_str!("app.py")).unwrap();
        command.args(["-m", "awslambdaric", handler]).current_dir(&directory);
        let function = function.timeout(PATIENCE).init_timeout(PATIENCE);
        let emulator = Emulator::builder().function(NAME, function).start().await.unwrap();
        emulator.spawn(NAME, command).unwrap();
        let client = emulator.client_builder().max_attempts(1).timeout(PATIENCE).build().unwrap();
        Some(Self { client, emulator, _directory: directory })
    }

    async fn text(&self, event: &str) -> String {
        let event = Bytes::from(json!(event).to_string());
        let response = crate::invoke(&self.client, NAME, event).await;
        serde_json::from_slice(&response).unwrap()
    }
}

const NAME: &str = "python";
