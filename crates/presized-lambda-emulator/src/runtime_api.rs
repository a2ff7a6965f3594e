//! The Runtime API of one function
//! (<https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html>).

mod refusal;
mod response_mode;
mod stream;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Response, StatusCode, request};
use hyper::body::Incoming;
use presized::{CollectError, Collected};
use presized_lambda_runtime::wire::{
    DEADLINE_MS, FUNCTION_ERROR_TYPE, INVOCATION_ID, RESPONSE_MAX, RESPONSE_MODE, Route,
};

use self::response_mode::ResponseMode;
use crate::deployed::{Deployed, InvocationEnd, ResponseGuard, RuntimeEvent};
use crate::failure::Failure;
use crate::request_body::discard;
use crate::response_body::{JSON, ResponseBody, empty_response, json_response};

pub(crate) use self::refusal::Refusal;

/// Responds to one request of a runtime.
pub(crate) async fn respond(
    function: Arc<Deployed>,
    request: Request<Incoming>,
) -> Response<ResponseBody> {
    let (head, mut body) = request.into_parts();
    let result = match Route::parse(&head.method, head.uri.path()) {
        Some(Route::NextInvocation) => next(&function).await,
        Some(Route::Response(id)) => {
            response(&function, id, &head, &mut body).await.map(|()| accepted())
        }
        Some(Route::Error(id)) => error(&function, id, &head, &mut body).await.map(|()| accepted()),
        Some(Route::InitError | Route::RestoreError) => {
            init_error(&function, &head, &mut body).await.map(|()| accepted())
        }
        Some(Route::RestoreNext) => function.restore().map(|()| empty_response(StatusCode::OK)),
        _ => Err(Refusal::NotFound),
    };
    result.unwrap_or_else(|refusal| {
        function.count_rejected();
        refusal.response()
    })
}

async fn next(function: &Arc<Deployed>) -> Result<Response<ResponseBody>, Refusal> {
    let event = function.poll()?.event().await?;
    Ok(event_response(event))
}

fn event_response(event: RuntimeEvent) -> Response<ResponseBody> {
    let RuntimeEvent { headers, timeout, invocation_id, payload } = event;
    let body = if payload.len() <= LONGEST_WITH_LENGTH {
        ResponseBody::sized(payload)
    } else {
        ResponseBody::chunked(payload)
    };
    let mut response = Response::new(body);
    *response.headers_mut() = headers;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, JSON);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let deadline = now.saturating_add(timeout).as_millis();
    headers.insert(DEADLINE_MS, u64::try_from(deadline).unwrap_or(u64::MAX).into());
    if let Some(id) = invocation_id {
        headers.insert(INVOCATION_ID, id);
    }
    response
}

async fn response(
    function: &Arc<Deployed>,
    request_id: &str,
    head: &request::Parts,
    body: &mut Incoming,
) -> Result<(), Refusal> {
    let guard = start_response(function, request_id, head, body).await?;
    let mode = match ResponseMode::read(head.headers.get(RESPONSE_MODE)) {
        Ok(mode) => mode,
        Err(refusal) => {
            guard.end(InvocationEnd::Failed(Failure::invalid_response_mode())).await?;
            discard(body).await;
            return Err(refusal);
        }
    };
    if mode == ResponseMode::Streaming && guard.takes_stream() {
        return stream::forward(guard, body).await;
    }
    let (guard, collected) = collect(function, guard, body).await?;
    let failure = match (mode, &collected.trailers) {
        (ResponseMode::Streaming, Some(trailers)) => Failure::in_trailers(trailers),
        _ => None,
    };
    guard
        .end(match failure {
            Some(failure) => InvocationEnd::Failed(failure),
            None => InvocationEnd::Response {
                content_type: head.headers.get(CONTENT_TYPE).cloned(),
                payload: collected.content,
            },
        })
        .await
}

async fn error(
    function: &Arc<Deployed>,
    request_id: &str,
    head: &request::Parts,
    body: &mut Incoming,
) -> Result<(), Refusal> {
    let guard = start_response(function, request_id, head, body).await?;
    let (guard, report) = collect(function, guard, body).await?;
    let failure = Failure::reported(head.headers.get(FUNCTION_ERROR_TYPE), report.content);
    guard.end(InvocationEnd::Failed(failure)).await
}

async fn init_error(
    function: &Arc<Deployed>,
    head: &request::Parts,
    body: &mut Incoming,
) -> Result<(), Refusal> {
    let report = match read(function, body).await {
        Ok(report) => report.content,
        Err(error) if error.is_too_large() => {
            discard(body).await;
            return Err(Refusal::RequestEntityTooLarge { limit: RESPONSE_MAX });
        }
        Err(_) => return Err(Refusal::TruncatedRequest),
    };
    function.init_failed(Failure::reported(head.headers.get(FUNCTION_ERROR_TYPE), report))
}

/// Starts the response to an invocation, or discards its body.
async fn start_response(
    function: &Arc<Deployed>,
    request_id: &str,
    head: &request::Parts,
    body: &mut Incoming,
) -> Result<ResponseGuard, Refusal> {
    let guard = ResponseGuard::start(function, request_id, head.headers.get(INVOCATION_ID));
    if guard.is_err() {
        discard(body).await;
    }
    guard
}

/// Collects the body of a response or an error report, or fails the invocation.
async fn collect(
    function: &Deployed,
    guard: ResponseGuard,
    body: &mut Incoming,
) -> Result<(ResponseGuard, Collected), Refusal> {
    match read(function, body).await {
        Ok(collected) => Ok((guard, collected)),
        Err(error) if error.is_too_large() => {
            guard.end(InvocationEnd::Failed(Failure::too_large(RESPONSE_MAX))).await?;
            discard(body).await;
            Err(Refusal::RequestEntityTooLarge { limit: RESPONSE_MAX })
        }
        Err(_) => {
            guard.end(InvocationEnd::Failed(Failure::truncated())).await?;
            Err(Refusal::TruncatedRequest)
        }
    }
}

async fn read(
    function: &Deployed,
    body: &mut Incoming,
) -> Result<Collected, CollectError<hyper::Error>> {
    function.response_reader(RESPONSE_MAX).collect(body).collected().await
}

fn accepted() -> Response<ResponseBody> {
    json_response(StatusCode::ACCEPTED, Bytes::from_static(b"{\"status\":\"OK\"}\n"))
}

/// The length in bytes of the longest event that has a content length. AWS's own emulator sends
/// longer ones in chunks, because they do not fit into the buffer of Go's server.
const LONGEST_WITH_LENGTH: usize = 2047;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::{HeaderMap, HeaderValue};
    use http_body::Body as _;

    use super::*;

    #[test]
    fn events_above_2047_bytes_have_no_content_length() {
        for (size, length) in [(0, Some(0)), (2047, Some(2047)), (2048, None), (1 << 20, None)] {
            let response = event_response(RuntimeEvent {
                headers: HeaderMap::new(),
                timeout: Duration::from_secs(3),
                invocation_id: None,
                payload: vec![b'x'; size].into(),
            });
            assert_eq!(response.body().size_hint().exact(), length, "{size} bytes");
        }
    }

    #[test]
    fn the_longest_timeout_gives_the_latest_deadline() {
        let response = event_response(RuntimeEvent {
            headers: HeaderMap::new(),
            timeout: Duration::MAX,
            invocation_id: Some(HeaderValue::from_static("n-1")),
            payload: Bytes::new(),
        });
        assert_eq!(response.headers()[DEADLINE_MS], u64::MAX.to_string());
        assert_eq!(response.headers()[INVOCATION_ID], "n-1");
    }
}
