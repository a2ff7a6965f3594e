//! The Invoke API of all functions
//! (<https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html>,
//! <https://docs.aws.amazon.com/lambda/latest/api/API_InvokeWithResponseStream.html>). It does not
//! verify signatures.

mod call_type;
mod clock;
mod event_stream;
mod headers;
mod route;
mod service_error;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, DATE, HeaderValue};
use http::{Method, Request, Response, StatusCode, request};
use hyper::body::Incoming;
use presized::CollectError;
use presized_lambda_invoke::wire::{
    EVENT_STREAM, EXECUTED_VERSION, FUNCTION_ERROR, LOG_RESULT, Operation, REQUEST_ID,
};
use tokio::sync::oneshot;
use tokio::time::Instant;

use self::call_type::CallType;
use self::clock::SkewedClock;
use self::headers::InvokeHeaders;
use self::route::{InvokeRoute, RouteError};
use self::service_error::ServiceError;
use crate::deployed::{Deployed, QueuedInvocation, Reply, RequestId};
use crate::failure::Failure;
use crate::fault::{FaultKind, FaultyApi};
use crate::outcome::{InvocationOutcome, StreamEnd};
use crate::request_body::discard;
use crate::response_body::{JSON, ResponseBody, empty_response, with_fault};
use crate::{ids, names};

pub(crate) use self::event_stream::EventStream;

/// The functions of an emulator by name.
pub(crate) type Functions = BTreeMap<String, Arc<Deployed>>;

/// Responds to one request of a client.
pub(crate) async fn respond(
    functions: Arc<Functions>,
    request: Request<Incoming>,
) -> Response<ResponseBody> {
    let id = ids::uuid();
    let (head, mut body) = request.into_parts();
    let mut fault = None;
    let mut response = match invoke(&functions, &id, &head, &mut body, &mut fault).await {
        Ok(response) => response,
        Err(error) => {
            discard(&mut body).await;
            error.response()
        }
    };
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    if let Some(FaultKind::ClockSkew { seconds }) = fault {
        response.headers_mut().insert(DATE, SkewedClock::new(seconds).date());
    }
    with_fault(response, fault).await
}

async fn invoke(
    functions: &Functions,
    id: &str,
    head: &request::Parts,
    body: &mut Incoming,
    fault: &mut Option<FaultKind>,
) -> Result<Response<ResponseBody>, ServiceError> {
    if head.method != Method::POST {
        return Err(ServiceError::Route(RouteError::UnknownOperation));
    }
    let route =
        InvokeRoute::parse(head.uri.path(), head.uri.query()).map_err(ServiceError::Route)?;
    let arn = names::arn(&route.function, route.qualifier.as_deref());
    let Some(function) = functions.get(&route.function) else {
        return Err(ServiceError::FunctionNotFound { arn });
    };
    *fault = function.faults().take(FaultyApi::Invoke);
    if let Some(FaultKind::ClockSkew { seconds }) = *fault {
        SkewedClock::new(seconds).check(&head.headers)?;
    }
    let headers = InvokeHeaders::read(&head.headers, route.operation)?;
    let event = read_event(function, headers.call_type, body).await?;
    if headers.call_type == CallType::DryRun {
        return Ok(empty_response(StatusCode::NO_CONTENT));
    }

    let id = RequestId::from(id);
    let (caller, outcome) = oneshot::channel();
    let is_event = headers.call_type == CallType::Event;
    let invocation = QueuedInvocation {
        id: Arc::clone(&id),
        version: route.version().to_owned(),
        queued_at: Instant::now(),
        event,
        wants_log: headers.wants_log,
        headers: headers.into_event_headers(&id, &arn),
        takes_stream: route.operation == Operation::InvokeWithResponseStream,
        reply: if is_event { Reply::Discarded } else { Reply::Caller(caller) },
        duplicates: u32::from(*fault == Some(FaultKind::Duplicate)),
        retries: if is_event { function.options().event_retries() } else { None },
        attempts: 0,
        fault: match *fault {
            Some(FaultKind::Environment(fault)) => Some(fault),
            _ => None,
        },
    };
    function.invoke(invocation).map_err(ServiceError::Throttled)?;
    if is_event {
        return Ok(empty_response(StatusCode::ACCEPTED));
    }
    let outcome = outcome.await.map_err(|_| ServiceError::Closed)?;
    Ok(response(&route, outcome))
}

async fn read_event(
    function: &Deployed,
    call_type: CallType,
    body: &mut Incoming,
) -> Result<Bytes, ServiceError> {
    let limit = call_type.event_max();
    let event = function.event_reader(limit).collect(body).await.map_err(|error| match error {
        CollectError::DeclaredTooLarge { declared: received, .. }
        | CollectError::TooLarge { received, .. } => {
            ServiceError::PayloadTooLarge { received, limit, call_type }
        }
        _ => ServiceError::PayloadTruncated,
    })?;
    Ok(if event.is_empty() { Bytes::from_static(NO_PAYLOAD) } else { event })
}

fn response(route: &InvokeRoute, outcome: InvocationOutcome) -> Response<ResponseBody> {
    let mut response = match route.operation {
        Operation::Invoke => buffered(outcome),
        Operation::InvokeWithResponseStream => streamed(outcome),
    };
    if let Ok(version) = HeaderValue::from_str(route.version()) {
        response.headers_mut().insert(EXECUTED_VERSION, version);
    }
    response
}

fn buffered(outcome: InvocationOutcome) -> Response<ResponseBody> {
    let (content_type, payload, log, failed) = match outcome {
        InvocationOutcome::Response { content_type, payload, log } => {
            (content_type, payload, log, false)
        }
        InvocationOutcome::Failed { failure, log } => (None, failure.payload, log, true),
        // Only a caller with `takes_stream` gets a stream.
        InvocationOutcome::Stream(_) => (None, Failure::truncated().payload, None, true),
    };
    let mut response = Response::new(ResponseBody::sized(payload));
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

fn streamed(outcome: InvocationOutcome) -> Response<ResponseBody> {
    let events = match outcome {
        InvocationOutcome::Response { payload, log, .. } => {
            EventStream::whole(payload, StreamEnd { failure: None, log })
        }
        InvocationOutcome::Failed { failure, log } => {
            EventStream::whole(Bytes::new(), StreamEnd { failure: Some(failure), log })
        }
        InvocationOutcome::Stream(response) => EventStream::streamed(response),
    };
    let mut response = Response::new(ResponseBody::EventStream(Box::new(events)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    response
}

/// The event of a call without a payload, as Lambda sends it to the runtime.
const NO_PAYLOAD: &[u8] = b"{}";
