//! The example as a program, run by the emulator.

use std::process::Command;
use std::time::Duration;

use presized_lambda_emulator::{Emulator, Function};
use serde_json::{Value, json};
use tokio::time::timeout;

#[tokio::test]
async fn failed_messages_are_reported() {
    let function = Function::new().timeout(PATIENCE).init_timeout(PATIENCE);
    let emulator = Emulator::builder().function("queue", function).start().await.unwrap();
    emulator.spawn("queue", Command::new(env!("CARGO_BIN_EXE_queue"))).unwrap();
    let client = emulator.client_builder().max_attempts(1).build().unwrap();
    let bodies =
        [r#"{"text":"good"}"#, r#"{"text":"bad request"}"#, "no JSON", r#"{"text":"good"}"#];
    let records: Vec<_> = bodies.iter().enumerate().map(record).collect();
    let call = client.invoke("queue").json(&json!({ "Records": records })).send();
    let response = timeout(PATIENCE, call).await.expect("a response in 60 s").unwrap();
    let response: Value = serde_json::from_slice(&response.payload).unwrap();
    let expected = [json!({ "itemIdentifier": "1" }), json!({ "itemIdentifier": "2" })];
    assert_eq!(response, json!({ "batchItemFailures": expected }));
}

fn record((id, body): (usize, &&str)) -> Value {
    json!({
        "messageId": id.to_string(),
        "body": body,
        "attributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:orders",
    })
}

/// The time after which a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);
