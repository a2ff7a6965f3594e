//! The example as a program, run by the emulator.

use std::process::Command;
use std::time::Duration;

use presized_lambda_emulator::{Emulator, Function};
use serde_json::{Value, json};
use tokio::time::timeout;

#[tokio::test]
async fn routes_are_found_below_the_stage() {
    let function = Function::new().timeout(PATIENCE).init_timeout(PATIENCE);
    let emulator = Emulator::builder().function("http_api", function).start().await.unwrap();
    emulator.spawn("http_api", Command::new(env!("CARGO_BIN_EXE_http_api"))).unwrap();
    let client = emulator.client_builder().max_attempts(1).build().unwrap();
    // A body that is not JSON.
    let missing = json!(null);
    let table = [
        ("GET", "/prod/", "", 200, json!({ "msg": "I am GET /" })),
        ("GET", "/prod/foo", "", 200, json!({ "msg": "I am GET /foo" })),
        ("POST", "/prod/foo", "", 200, json!({ "msg": "I am POST /foo" })),
        ("POST", "/prod/foo/Ada", "", 200, json!({ "msg": "I am POST /foo/{name}, name=Ada" })),
        (
            "GET",
            "/prod/parameters",
            "first=1%202",
            200,
            json!({ "request parameters": { "first": "1 2", "second": null } }),
        ),
        ("GET", "/prod/health", "", 200, missing.clone()),
        ("GET", "/prod/none", "", 404, missing.clone()),
        ("DELETE", "/prod/foo", "", 405, missing),
    ];
    for (method, path, query, status, body) in table {
        let call = client.invoke("http_api").json(&event(method, path, query)).send();
        let response = timeout(PATIENCE, call).await.expect("a response in 60 s").unwrap();
        let response: Value = serde_json::from_slice(&response.payload).unwrap();
        assert_eq!(response["statusCode"], status, "{method} {path}: {response}");
        let text = response["body"].as_str().unwrap();
        assert_eq!(serde_json::from_str(text).unwrap_or(Value::Null), body, "{method} {path}");
    }
}

/// Returns an event of the stage `prod` of an HTTP API.
fn event(method: &str, path: &str, query: &str) -> Value {
    json!({
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": query,
        "headers": { "accept": "*/*" },
        "requestContext": {
            "apiId": "abc123",
            "domainName": "abc123.execute-api.eu-central-1.amazonaws.com",
            "domainPrefix": "abc123",
            "http": { "method": method, "path": path, "protocol": "HTTP/1.1" },
            "stage": "prod",
        },
        "isBase64Encoded": false,
    })
}

/// The time after which a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);
