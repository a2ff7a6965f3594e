//! The first example of the README, as a function of the emulator.

use std::process::Command;
use std::time::Duration;

use presized_lambda_emulator::{Emulator, Function};
use presized_support::process::example;
use tokio::time::timeout;

#[test]
fn function_is_the_example_of_the_readme() {
    assert!(include_str!("../../README.md").contains(include_str!("function.rs")));
}

#[tokio::test]
async fn function_returns_the_sum_or_an_error() {
    let function = Function::new().timeout(PATIENCE).init_timeout(PATIENCE);
    let emulator = Emulator::builder().function("bill", function).start().await.unwrap();
    emulator.spawn("bill", Command::new(example("runtime_readme"))).unwrap();
    let client = emulator.client_builder().build().unwrap();
    for (order, response) in [
        (r#"{"cents":[250,99]}"#, r#"{"cents":349}"#),
        (
            r#"{"cents":[18446744073709551615,1]}"#,
            r#"{"errorType":"Order.TooLarge","errorMessage":"sum exceeds 64 bits","stackTrace":[]}"#,
        ),
    ] {
        let call = client.invoke("bill").payload(order).send();
        let invocation = timeout(PATIENCE, call).await.expect("a response in 60 s").unwrap();
        assert_eq!(invocation.payload, response);
    }
}

/// The time after which a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);
