//! Layers of tower around a JSON handler.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use presized_lambda_runtime::{
    BoxError, Context, ErrorReport, FunctionRequest, FunctionResponse, HandlerService, json,
    service,
};
use tower::ServiceBuilder;

use super::{NAME, attached};

async fn double(number: u32, _: Context) -> Result<u32, BoxError> {
    match number {
        0 => pending().await,
        13 => Err(ErrorReport::new("Unlucky", "no"))?,
        _ => Ok(number * 2),
    }
}

#[tokio::test]
async fn layers_see_event_and_response_and_errors_keep_their_type() {
    let (before, after) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (on_event, on_response) = (Arc::clone(&before), Arc::clone(&after));
    let layered = ServiceBuilder::new()
        .map_request(move |request: FunctionRequest| {
            on_event.fetch_add(request.event.len(), Ordering::Relaxed);
            request
        })
        .map_response(move |response: FunctionResponse| {
            on_response.fetch_add(1, Ordering::Relaxed);
            response
        })
        .timeout(Duration::from_secs(20))
        .service(HandlerService::new(json(double)));
    let (_emulator, client) = attached(service(layered)).await;

    let response = client.invoke(NAME).payload("21").send().await.unwrap();
    assert_eq!(response.payload, "42");
    let response = client.invoke(NAME).payload("13").send().await.unwrap();
    assert_eq!(response.function_error.unwrap().error_type.as_deref(), Some("Unlucky"));
    let response = client.invoke(NAME).payload("[]").send().await.unwrap();
    let error_type = response.function_error.unwrap().error_type;
    assert_eq!(error_type.as_deref(), Some("Runtime.UnmarshalError"));
    assert_eq!((before.load(Ordering::Relaxed), after.load(Ordering::Relaxed)), (6, 1));
}

#[tokio::test]
async fn error_of_a_layer_is_the_error_of_the_function() {
    let layered = ServiceBuilder::new()
        .timeout(Duration::from_millis(50))
        .service(HandlerService::new(json(double)));
    let (_emulator, client) = attached(service(layered)).await;
    let response = client.invoke(NAME).payload("0").send().await.unwrap();
    let error = response.function_error.expect("no function error");
    assert_eq!(error.error_type.as_deref(), Some("Error"));
    assert_eq!(error.error_message.as_deref(), Some("request timed out"));
    let response = client.invoke(NAME).payload("1").send().await.unwrap();
    assert_eq!(response.payload, "2");
}
