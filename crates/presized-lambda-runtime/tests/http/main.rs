//! `http` with a router of axum and events of all sources, run by the emulator.

mod requests;
mod responses;
mod streams;

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::IntoResponse;
use http::Request;
use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_invoke::Client;
use presized_lambda_runtime::{HttpFunction, HttpSource, RequestContext, StagePath, http};
use serde_json::{Value, json};
use tokio::time::timeout;

/// Sends an event to a function.
async fn invoke(function: HttpFunction<Router>, event: &Value) -> Value {
    let (_emulator, client) = start(function).await;
    let call = client.invoke(NAME).json(event).send();
    let response = timeout(PATIENCE, call).await.expect("a response in 60 s").unwrap();
    serde_json::from_slice(&response.payload).unwrap()
}

async fn start(function: HttpFunction<Router>) -> (Emulator, Client) {
    let emulator = Emulator::builder().function(NAME, Function::new().timeout(PATIENCE)).start();
    let emulator = emulator.await.unwrap();
    emulator.attach(NAME, function).unwrap();
    let client = emulator.client_builder().max_attempts(1).build().unwrap();
    (emulator, client)
}

/// Returns a function that always gives this response.
fn responding<R: IntoResponse + Send + 'static>(
    response: impl Fn() -> R + Clone + Send + Sync + 'static,
) -> HttpFunction<Router> {
    http(Router::new().fallback(async move || response()))
}

const NAME: &str = "http";

const PATIENCE: Duration = Duration::from_secs(60);
