//! The example as a program, run by the emulator of this workspace and by that of AWS.

#![cfg(unix)]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_invoke::{Client, Credentials};
use presized_support::rie;
use serde_json::Value;
use tokio::time::timeout;

#[tokio::test]
async fn order_is_summed_by_the_program() {
    let function = Function::new().timeout(PATIENCE).init_timeout(PATIENCE);
    let emulator = Emulator::builder().function("function", function).start().await.unwrap();
    emulator.spawn("function", Command::new(PROGRAM)).unwrap();
    check(&emulator.client_builder().max_attempts(1).build().unwrap(), "function").await;
}

#[tokio::test]
async fn order_is_summed_under_the_emulator_of_aws() {
    let Some(rie) = rie::start(60, Path::new(PROGRAM)) else { return };
    let client = Client::builder()
        .endpoint(format!("http://{}", rie.address(0)))
        .region("us-east-1")
        .credentials(Credentials::new("AKIDEXAMPLE", "secret", None, None, "test"))
        .max_attempts(1)
        .build()
        .unwrap();
    check(&client, rie::FUNCTION).await;
}

/// Sends orders and compares the responses.
async fn check(client: &Client, function: &str) {
    let invoke = async |order: &'static str| {
        let call = client.invoke(function).payload(order).send();
        timeout(PATIENCE, call).await.expect("a response in 60 s").unwrap().payload
    };
    let order = r#"{"items":[{"cents":250,"quantity":3},{"cents":99,"quantity":1}]}"#;
    assert_eq!(invoke(order).await, r#"{"cents":849}"#);
    for (order, error_type) in [
        (r#"{"items":[{"cents":2,"quantity":18446744073709551615}]}"#, "Order.TooLarge"),
        (r#"{"items":[{"cents":"2"}]}"#, "Runtime.UnmarshalError"),
    ] {
        let report: Value = serde_json::from_slice(&invoke(order).await).unwrap();
        assert_eq!(report["errorType"], error_type);
    }
    assert_eq!(invoke(r#"{"items":[]}"#).await, r#"{"cents":0}"#);
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_function");

/// The time after which a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);
