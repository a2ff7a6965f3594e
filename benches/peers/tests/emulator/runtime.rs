//! Functions on lambda_runtime, called by the client of presized.

use std::process::Command;

use futures_util::future::join_all;
use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_invoke::Client;
use presized_support::process::example;

use crate::{PATIENCE, RESPONSE_MAX, within_time};

#[tokio::test]
async fn json_comes_back_at_any_length() {
    let (emulator, client) = start(Function::new()).await;
    within_time(async {
        for length in [4, 2047, 2048, 2049, 60_000, 6_000_000] {
            // `é` has two bytes, and the quotes are two.
            let event = "é".to_owned() + &"x".repeat(length - 4);
            assert!(text(&client, &event).await == event, "{length} bytes");
        }
    })
    .await;
    assert_eq!(emulator.stats(NAME).unwrap().responses, 6);
}

#[tokio::test]
async fn function_receives_the_context_of_its_call() {
    let (_emulator, client) = start(Function::new().memory_size(512)).await;
    within_time(async {
        let call = client
            .invoke(NAME)
            .json("context")
            .client_context(r#"{"custom":{"who":"me"}}"#)
            .tenant_id("blue");
        let response = call.send().await.unwrap();
        let request_id = response.request_id.clone().unwrap();
        let arn = "arn:aws:lambda:us-east-1:123456789012:function:rust";
        let context = format!(r#"{request_id} {arn} 512 {{"who":"me"}} Some("blue") true"#);
        assert_eq!(response.json::<String>().unwrap(), context);
    })
    .await;
}

#[tokio::test]
async fn errors_and_panics_are_function_errors() {
    let (_emulator, client) = start(Function::new()).await;
    within_time(async {
        for event in ["fail", "panic"] {
            let response = client.invoke(NAME).json(event).send().await.unwrap();
            let error = response.function_error.unwrap();
            assert!(error.error_message.unwrap().contains("no such fruit"), "{event}");
            assert_eq!(text(&client, "after").await, "after");
        }
    })
    .await;
}

#[tokio::test]
async fn response_over_the_limit_is_refused_and_the_next_is_accepted() {
    let (_emulator, client) = start(Function::new()).await;
    within_time(async {
        // Two bytes are the quotes.
        let largest = text(&client, &format!("answer {}", RESPONSE_MAX - 2)).await;
        assert_eq!(largest.len(), RESPONSE_MAX - 2);
        let event = format!("answer {}", RESPONSE_MAX - 1);
        let response = client.invoke(NAME).json(&event).send().await.unwrap();
        let error = response.function_error.unwrap();
        assert_eq!(error.error_type.as_deref(), Some("Function.ResponseSizeTooLarge"));
        assert_eq!(text(&client, "after").await, "after");
    })
    .await;
}

// lambda_runtime writes the trailers of a broken stream into the body and ends it normally.
#[tokio::test]
async fn stream_is_passed_on() {
    let (_emulator, client) = start(Function::new()).await;
    within_time(async {
        let stream = client.invoke_streaming(NAME).json("stream").send().await.unwrap();
        let response = stream.collect(LIMIT).await.unwrap();
        let (prelude, body) = response.payload.split_at(response.payload.len() - "applepear".len());
        assert!(prelude.ends_with(&[0; 8]), "{prelude:?}");
        assert_eq!(body, b"applepear");

        let stream = client.invoke_streaming(NAME).json("broken").send().await.unwrap();
        let response = stream.collect(LIMIT).await.unwrap();
        let written = String::from_utf8_lossy(&response.payload);
        assert!(written.contains("appleLambda-Runtime-Function-Error-Type:"), "{written:?}");
        assert_eq!(text(&client, "after").await, "after");
    })
    .await;
}

#[tokio::test]
async fn sixteen_callers_of_four_slots_get_their_own_responses() {
    let (emulator, client) = start(Function::new().concurrency(AT_ONCE)).await;
    within_time(async {
        join_all((0..16).map(async |number| {
            let event = format!("meet {number}");
            assert_eq!(text(&client, &event).await, event);
        }))
        .await;
    })
    .await;
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.started, stats.responses, stats.rejected), (16, 16, 0));
}

async fn start(function: Function) -> (Emulator, Client) {
    let function = function.timeout(PATIENCE).init_timeout(PATIENCE);
    let emulator = Emulator::builder().function(NAME, function).start().await.unwrap();
    emulator.spawn(NAME, Command::new(example("function"))).unwrap();
    let client = emulator.client_builder().max_attempts(1).timeout(PATIENCE).build().unwrap();
    (emulator, client)
}

async fn text(client: &Client, event: &str) -> String {
    client.invoke(NAME).json(event).send().await.unwrap().json().unwrap()
}

const NAME: &str = "rust";

/// More than the longest stream in bytes.
const LIMIT: u64 = 1000;

/// The number of invocations that meet in the function.
const AT_ONCE: usize = 4;
