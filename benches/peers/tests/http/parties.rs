//! One router behind each adapter, and what comes out.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Query;
use axum::http::Request;
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lambda_http::Adapter;
use lambda_http::lambda_runtime::{self, LambdaEvent};
use lambda_http::request::LambdaRequest;
use lambda_http::tower::Service;
use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_runtime::{StagePath, http};
use serde_json::{Value, json};
use tokio::time::timeout;

/// The response that a client of the API gets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) status: u64,
    pub(crate) headers: BTreeMap<String, Vec<String>>,
    pub(crate) body: Vec<u8>,
}

/// Returns the outcomes of `lambda_http` and of presized.
pub(crate) async fn both(app: Router, event: &Value) -> [Outcome; 2] {
    let peer = Outcome::of(&of_lambda_http(app.clone(), event).await, event);
    [peer, Outcome::of(&of_presized(app, event).await, event)]
}

/// Calls the adapter that `lambda_http::run` calls.
pub(crate) async fn of_lambda_http(app: Router, event: &Value) -> Value {
    let request: LambdaRequest = serde_json::from_str(&event.to_string()).unwrap();
    let context = lambda_runtime::Context::default();
    // The adapter is not `Send`, and the future is.
    let call = Adapter::from(app).call(LambdaEvent::new(request, context));
    serde_json::to_value(call.await.unwrap()).unwrap()
}

/// Runs the handler under the emulator.
pub(crate) async fn of_presized(app: Router, event: &Value) -> Value {
    let emulator = Emulator::builder().function("http", Function::new().timeout(PATIENCE)).start();
    let emulator = emulator.await.unwrap();
    // As `lambda_http` does without settings.
    emulator.attach("http", http(app).stage_path(StagePath::Added)).unwrap();
    let client = emulator.client_builder().max_attempts(1).build().unwrap();
    let call = client.invoke("http").json(event).send();
    let response = timeout(PATIENCE, call).await.expect("a response in 60 s").unwrap();
    serde_json::from_slice(&response.payload).unwrap()
}

impl Outcome {
    /// Reads a response as its source does.
    pub(crate) fn of(response: &Value, event: &Value) -> Self {
        let context = &event["requestContext"];
        let has_one_value = !context["http"].is_null()
            || (!context["elb"].is_null() && event["multiValueHeaders"].is_null());
        let headers = &response[if has_one_value { "headers" } else { "multiValueHeaders" }];
        let mut headers: BTreeMap<String, Vec<String>> = headers
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, values)| (name.clone(), strings(values)))
            .collect();
        let cookies = strings(&response["cookies"]);
        if !cookies.is_empty() {
            headers.insert("set-cookie".to_owned(), cookies);
        }
        let body = response["body"].as_str().unwrap_or_default();
        let body = if response["isBase64Encoded"] == true {
            STANDARD.decode(body).unwrap()
        } else {
            body.as_bytes().to_vec()
        };
        Self { status: response["statusCode"].as_u64().unwrap(), headers, body }
    }

    pub(crate) fn body_json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// Returns a service that responds with what it receives.
pub(crate) fn recorder() -> Router {
    Router::new().fallback(async |request: Request<Body>| {
        let (head, body) = request.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let mut headers: BTreeMap<_, Vec<_>> = BTreeMap::new();
        // The emulator sets a trace id, and the context of `lambda_http` has none here.
        for (name, value) in head.headers.iter().filter(|(name, _)| *name != "x-amzn-trace-id") {
            headers.entry(name.to_string()).or_default().push(value.to_str().unwrap().to_owned());
        }
        let uri = head.uri.to_string();
        // `lambda_http` takes the parameters of a query from a hash map.
        let Query(mut query) = Query::<Vec<(String, String)>>::try_from_uri(&head.uri).unwrap();
        query.sort();
        Json(json!({
            "method": head.method.as_str(),
            "uri": uri.split('?').next(),
            "query": query,
            "headers": headers,
            "body": body.to_vec(),
        }))
    })
}

const PATIENCE: Duration = Duration::from_secs(60);
