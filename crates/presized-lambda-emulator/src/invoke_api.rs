//! The Invoke API
//! (<https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html>,
//! <https://docs.aws.amazon.com/lambda/latest/api/API_InvokeWithResponseStream.html>). Signatures
//! are not looked at.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode, request};
use hyper::body::Incoming;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::body::{Body, JSON, empty};
use super::call::{Call, InvocationType};
use super::deployed::Deployed;
use super::events::Events;
use super::failure::Failure;
use super::ids;
use super::invocation::{Ending, Invocation, Outcome, Reply, RequestId};
use super::log::Tail;
use super::names::{self, Operation, Target};
use super::reading::{collect, discard};
use super::service_error::ServiceError;
use presized::CollectError;

/// The functions of an emulator by their names.
pub(super) type Functions = BTreeMap<String, Arc<Deployed>>;

/// Answers one request of a client.
pub(super) async fn respond(
    functions: Arc<Functions>,
    request: Request<Incoming>,
) -> Response<Body> {
    let id = ids::uuid();
    let (head, mut body) = request.into_parts();
    let mut response = match invoke(&functions, &id, &head, &mut body).await {
        Ok(response) => response,
        Err(error) => {
            discard(&mut body).await;
            error.response()
        }
    };
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

async fn invoke(
    functions: &Functions,
    id: &str,
    head: &request::Parts,
    body: &mut Incoming,
) -> Result<Response<Body>, ServiceError> {
    if head.method != Method::POST {
        return Err(ServiceError::UnknownOperation);
    }
    let target = names::target(head.uri.path(), head.uri.query()).map_err(ServiceError::Name)?;
    let arn = names::arn(&target.name, target.qualifier.as_deref());
    let Some(function) = functions.get(&target.name) else {
        return Err(ServiceError::FunctionNotFound { arn });
    };
    let call = Call::read(&head.headers, target.operation)?;
    let event = read_event(function, call.invocation_type, body).await?;
    if call.invocation_type == InvocationType::DryRun {
        return Ok(empty(StatusCode::NO_CONTENT));
    }
    function.admit().map_err(|_| ServiceError::Throttled)?;

    let id = RequestId::from(id);
    let (caller, outcome) = oneshot::channel();
    let is_event = call.invocation_type == InvocationType::Event;
    function.invoke(Invocation {
        id: Arc::clone(&id),
        version: target.version().to_owned(),
        queued: Instant::now(),
        event,
        log: call.tail_log.then(Tail::default),
        headers: call.context(&id, &arn),
        takes_stream: target.operation == Operation::InvokeStreaming,
        reply: if is_event { Reply::Nobody } else { Reply::Caller(caller) },
    });
    if is_event {
        return Ok(empty(StatusCode::ACCEPTED));
    }
    let outcome = outcome.await.map_err(|_| ServiceError::Closed)?;
    Ok(answer(&target, outcome))
}

async fn read_event(
    function: &Deployed,
    invocation_type: InvocationType,
    body: &mut Incoming,
) -> Result<Bytes, ServiceError> {
    let limit = invocation_type.payload_max();
    let read = collect(function, &function.events, body, limit).await;
    read.map(|read| read.content).map_err(|error| match error {
        CollectError::DeclaredTooLarge { declared: received, .. }
        | CollectError::TooLarge { received, .. } => ServiceError::PayloadTooLarge {
            received,
            limit,
            invocation_type: invocation_type.as_str(),
        },
        _ => ServiceError::PayloadTruncated,
    })
}

fn answer(target: &Target, outcome: Outcome) -> Response<Body> {
    let mut response = match target.operation {
        Operation::Invoke => buffered(outcome),
        Operation::InvokeStreaming => streamed(outcome),
    };
    if let Ok(version) = HeaderValue::from_str(target.version()) {
        response.headers_mut().insert(EXECUTED_VERSION, version);
    }
    response
}

fn buffered(outcome: Outcome) -> Response<Body> {
    let (content_type, payload, log, failed) = match outcome {
        Outcome::Answer { content_type, payload, log } => (content_type, payload, log, false),
        Outcome::Failed { failure, log } => (None, failure.payload, log, true),
        // It is given to those alone who take it.
        Outcome::Stream(_) => (None, Failure::truncated().payload, None, true),
    };
    let mut response = Response::new(Body::sized(payload));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, content_type.unwrap_or(JSON));
    if failed {
        headers.insert(FUNCTION_ERROR, HeaderValue::from_static("Unhandled"));
    }
    if let Some(Ok(log)) = log.map(|log| HeaderValue::try_from(log.encode())) {
        headers.insert(LOG_RESULT, log);
    }
    response
}

fn streamed(outcome: Outcome) -> Response<Body> {
    let events = match outcome {
        Outcome::Answer { payload, log, .. } => Events::of(payload, Ending { failure: None, log }),
        Outcome::Failed { failure, log } => {
            Events::of(Bytes::new(), Ending { failure: Some(failure), log })
        }
        Outcome::Stream(stream) => Events::streamed(stream),
    };
    let mut response = Response::new(Body::Events(Box::new(events)));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/vnd.amazon.eventstream"));
    response
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");

const FUNCTION_ERROR: HeaderName = HeaderName::from_static("x-amz-function-error");

const LOG_RESULT: HeaderName = HeaderName::from_static("x-amz-log-result");

const EXECUTED_VERSION: HeaderName = HeaderName::from_static("x-amz-executed-version");
