//! The initialization, whose failure the caller of the function gets.

use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_runtime::{BoxError, ErrorKind, ErrorReport, RuntimeClient};
use presized_support::process::example;
use tokio::process::Command;
use tokio::time::timeout;

use super::{NAME, PATIENCE};

/// Returns the type and the message that a caller gets from a function that never polls.
async fn reported(emulator: &Emulator) -> (String, String) {
    let client = emulator.client_builder().max_attempts(1).timeout(PATIENCE).build().unwrap();
    let response = client.invoke(NAME).payload("0").send().await.unwrap();
    let error = *response.function_error.expect("no function error");
    (error.error_type.unwrap(), error.error_message.unwrap())
}

async fn emulator() -> Emulator {
    let function = Function::new().timeout(PATIENCE);
    Emulator::builder().function(NAME, function).start().await.unwrap()
}

#[tokio::test]
async fn failed_initialization_is_reported_with_type_and_message() {
    type Init = fn() -> Result<u8, BoxError>;
    let table: [(Init, _, _); 3] = [
        (|| Err(ErrorReport::new("Init.NoTable", "no table").into()), "Init.NoTable", "no table"),
        (|| Err("no table".into()), "Error", "no table"),
        (|| panic!("a bug"), "Function.Panic", "a bug"),
    ];
    for (init, error_type, message) in table {
        let emulator = emulator().await;
        let runtime_api = emulator.runtime_api(NAME).unwrap();
        let client = RuntimeClient::builder().endpoint(runtime_api).build().unwrap();
        let error = client.initialize(async || init()).await.unwrap_err();
        assert!(error.is_fatal());
        let ErrorKind::Init(report) = error.kind() else { panic!("{error:?}") };
        assert_eq!((&*report.error_type, &*report.error_message), (error_type, message));
        assert_eq!(reported(&emulator).await, (error_type.to_owned(), message.to_owned()));
    }
}

#[tokio::test]
async fn initialization_that_succeeds_reports_nothing() {
    let emulator = emulator().await;
    let runtime_api = emulator.runtime_api(NAME).unwrap();
    let client = RuntimeClient::builder().endpoint(runtime_api).build().unwrap();
    assert_eq!(client.initialize(async || Ok::<_, BoxError>(7)).await.unwrap(), 7);
    assert_eq!(emulator.stats(NAME).unwrap().errors, 0);
}

#[tokio::test]
async fn process_whose_initialization_fails_reports_it_and_ends_with_an_error() {
    let emulator = emulator().await;
    let output = Command::new(example("test_function"))
        .env("AWS_LAMBDA_RUNTIME_API", emulator.runtime_api(NAME).unwrap())
        .env("TEST_INIT_ERROR", "no table")
        .kill_on_drop(true)
        .output();
    let output = timeout(PATIENCE, output).await.expect("an end in time").unwrap();
    assert_eq!(output.status.code(), Some(1));
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(log.contains("no table"), "{log}");
    assert_eq!(reported(&emulator).await, ("Error".to_owned(), "no table".to_owned()));
}
