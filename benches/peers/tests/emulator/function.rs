//! A function on lambda_runtime, which a test starts as a program. It is an example, because Cargo
//! builds examples with the dependencies of tests.

use std::sync::LazyLock;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use lambda_runtime::{Error, FunctionResponse, LambdaEvent, StreamResponse, service_fn};
use serde_json::json;
use tokio::sync::Barrier;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda_runtime::run_concurrent(service_fn(function)).await
}

type Chunks = BoxStream<'static, Result<Bytes, Error>>;

/// Does what the event says.
async fn function(event: LambdaEvent<String>) -> Result<FunctionResponse<String, Chunks>, Error> {
    let LambdaEvent { payload: event, context } = event;
    let (command, argument) = event.split_once(' ').unwrap_or((&event, ""));
    let response = match command {
        "answer" => "x".repeat(argument.parse()?),
        "context" => format!(
            "{} {} {} {} {:?} {}",
            context.request_id,
            context.invoked_function_arn,
            context.env_config.memory,
            json!(context.client_context.map(|context| context.custom)),
            context.tenant_id,
            context.deadline > 0,
        ),
        "fail" => return Err("no such fruit".into()),
        "panic" => panic!("no such fruit"),
        "stream" | "broken" => {
            let end =
                if command == "broken" { Err("no such fruit".into()) } else { Ok("pear".into()) };
            let chunks: Chunks = Box::pin(stream::iter([Ok("apple".into()), end]));
            return Ok(FunctionResponse::StreamingResponse(StreamResponse::from(chunks)));
        }
        "meet" => {
            MEETING.wait().await;
            event
        }
        _ => event,
    };
    Ok(FunctionResponse::BufferedResponse(response))
}

/// Invocations wait here until as many run as the concurrency allows.
static MEETING: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(4));
