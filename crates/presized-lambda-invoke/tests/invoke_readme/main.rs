//! The first example of the README, as a program that calls the emulator.

use std::time::Duration;

use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_runtime::{Context, ErrorReport, json};
use presized_support::process::example;
use tokio::process::Command;
use tokio::time::timeout;

#[test]
fn program_is_the_example_of_the_readme() {
    assert!(include_str!("../../README.md").contains(include_str!("client.rs")));
}

#[tokio::test]
async fn program_prints_the_response_or_the_error_of_the_function() {
    for (total, printed) in [
        (Some(7), "total: 7\n"),
        (None, "function failed (unhandled): Order.Unknown: no such order\n"),
    ] {
        let function = move |_: Vec<String>, _: Context| async move {
            total.ok_or_else(|| ErrorReport::new("Order.Unknown", "no such order"))
        };
        let emulator = Emulator::builder().function("orders", Function::new()).start().await;
        let emulator = emulator.unwrap();
        emulator.attach("orders", json(function)).unwrap();
        let output = Command::new(example("invoke_readme"))
            .env("AWS_ENDPOINT_URL_LAMBDA", emulator.url())
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .output();
        let output = timeout(PATIENCE, output).await.expect("the program ends").unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{errors}");
        assert!(output.status.success(), "{errors}");
    }
}

/// The time after which a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);
