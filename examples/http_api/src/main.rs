//! An HTTP API on AWS Lambda: a router of axum behind API Gateway, a function URL or a load balancer.
//!
//! It does the job of the example `http-axum` of `lambda_http`. `examples/function` says how to build
//! the program `bootstrap`.

use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use presized_lambda_runtime::{Error, http, run};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Deserialize, Serialize)]
struct Params {
    first: Option<String>,
    second: Option<String>,
}

async fn root() -> Json<Value> {
    Json(json!({ "msg": "I am GET /" }))
}

async fn get_foo() -> Json<Value> {
    Json(json!({ "msg": "I am GET /foo" }))
}

async fn post_foo() -> Json<Value> {
    Json(json!({ "msg": "I am POST /foo" }))
}

async fn post_foo_name(Path(name): Path<String>) -> Json<Value> {
    Json(json!({ "msg": format!("I am POST /foo/{{name}}, name={name}") }))
}

async fn get_parameters(Query(params): Query<Params>) -> Json<Value> {
    Json(json!({ "request parameters": params }))
}

async fn health_check() -> (StatusCode, &'static str) {
    let is_healthy = true;
    if is_healthy {
        (StatusCode::OK, "Healthy!")
    } else {
        (StatusCode::INTERNAL_SERVER_ERROR, "Not healthy!")
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    // Lambda adds the time to each line.
    tracing_subscriber::fmt().without_time().with_ansi(false).init();
    let app = Router::new()
        .route("/", get(root))
        .route("/foo", get(get_foo).post(post_foo))
        .route("/foo/{name}", post(post_foo_name))
        .route("/parameters", get(get_parameters))
        .route("/health", get(health_check));
    // Paths do not contain the stage of the API. `StagePath` changes that.
    run(http(app)).await
}
