//! The Runtime API
//! (<https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html>) of one function.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{Method, Request, Response, StatusCode, request};
use hyper::body::Incoming;

use super::answering::Answering;
use super::body::{Body, JSON, empty, json};
use super::deployed::Deployed;
use super::failure::{ERROR_TYPE, Failure};
use super::invocation::{End, Event};
use super::reading::{collect, discard};
use super::state::{Refusal, ResponseMode, response_mode};
use super::streaming;
use presized::CollectError;

/// Answers one request of a runtime.
pub(super) async fn respond(function: Arc<Deployed>, request: Request<Incoming>) -> Response<Body> {
    let (head, mut body) = request.into_parts();
    let answered = match route(&head.method, head.uri.path()) {
        Some(Route::Next) => next(&function).await,
        Some(Route::Response(id)) => {
            response(&function, id, &head, &mut body).await.map(|()| accepted())
        }
        Some(Route::Error(id)) => error(&function, id, &head, &mut body).await.map(|()| accepted()),
        Some(Route::InitError) => {
            init_error(&function, &head, &mut body).await.map(|()| accepted())
        }
        Some(Route::RestoreNext) => function.restore().map(|()| empty(StatusCode::OK)),
        None => Err(Refusal::NotFound),
    };
    answered.unwrap_or_else(|refusal| {
        function.lock().stats.rejected += 1;
        json(refusal.status(), refusal.json())
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Route<'a> {
    Next,
    Response(&'a str),
    Error(&'a str),
    /// Of a start from a snapshot too.
    InitError,
    RestoreNext,
}

fn route<'a>(method: &Method, path: &'a str) -> Option<Route<'a>> {
    let path = path.strip_prefix("/2018-06-01/runtime/")?;
    let parts: Vec<&str> = path.split('/').collect();
    match (method, &parts[..]) {
        (&Method::GET, ["invocation", "next"]) => Some(Route::Next),
        (&Method::POST, ["invocation", id, "response"]) => Some(Route::Response(id)),
        (&Method::POST, ["invocation", id, "error"]) => Some(Route::Error(id)),
        (&Method::POST, ["init" | "restore", "error"]) => Some(Route::InitError),
        (&Method::GET, ["restore", "next"]) => Some(Route::RestoreNext),
        _ => None,
    }
}

async fn next(function: &Arc<Deployed>) -> Result<Response<Body>, Refusal> {
    let offer = function.poll()?.await.map_err(|_| Refusal::Internal)?;
    let event = offer.accept().ok_or(Refusal::Internal)?;
    Ok(event_response(event))
}

fn event_response(event: Event) -> Response<Body> {
    let Event { headers, timeout, invocation_id, payload } = event;
    let body = if payload.len() <= LONGEST_WITH_LENGTH {
        Body::sized(payload)
    } else {
        Body::chunked(payload)
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
    id: &str,
    head: &request::Parts,
    body: &mut Incoming,
) -> Result<(), Refusal> {
    let answering = answer(function, id, head, body).await?;
    let mode = match response_mode(head.headers.get(RESPONSE_MODE)) {
        Ok(mode) => mode,
        Err(refusal) => {
            answering.end(End::Failed(Failure::invalid_response_mode())).await?;
            discard(body).await;
            return Err(refusal);
        }
    };
    if mode == ResponseMode::Streaming && answering.takes_stream() {
        return streaming::forward(answering, body).await;
    }
    let collected = collect(function, &function.answers, body, ANSWER_MAX).await;
    let (answering, collected) = whole(answering, collected, body).await?;
    let failure = match (mode, &collected.trailers) {
        (ResponseMode::Streaming, Some(trailers)) => Failure::in_trailers(trailers),
        _ => None,
    };
    answering
        .end(match failure {
            Some(failure) => End::Failed(failure),
            None => End::Answered {
                content_type: head.headers.get(CONTENT_TYPE).cloned(),
                payload: collected.content,
            },
        })
        .await
}

async fn error(
    function: &Arc<Deployed>,
    id: &str,
    head: &request::Parts,
    body: &mut Incoming,
) -> Result<(), Refusal> {
    let answering = answer(function, id, head, body).await?;
    let report = collect(function, &function.answers, body, ANSWER_MAX).await;
    let (answering, report) = whole(answering, report, body).await?;
    let failure = Failure::reported(head.headers.get(ERROR_TYPE), report.content);
    answering.end(End::Failed(failure)).await
}

async fn init_error(
    function: &Arc<Deployed>,
    head: &request::Parts,
    body: &mut Incoming,
) -> Result<(), Refusal> {
    let report = match collect(function, &function.answers, body, ANSWER_MAX).await {
        Ok(report) => report.content,
        Err(error) if error.is_too_large() => {
            discard(body).await;
            return Err(Refusal::RequestEntityTooLarge { limit: ANSWER_MAX });
        }
        Err(_) => return Err(Refusal::TruncatedRequest),
    };
    function.init_failed(Failure::reported(head.headers.get(ERROR_TYPE), report))
}

/// The right to answer, or else the rest of the body is of no use.
async fn answer(
    function: &Arc<Deployed>,
    id: &str,
    head: &request::Parts,
    body: &mut Incoming,
) -> Result<Answering, Refusal> {
    let answering = function.answer(id, head.headers.get(INVOCATION_ID));
    if answering.is_err() {
        discard(body).await;
    }
    answering
}

/// An answer that was read whole. Of any other, the caller is told at once.
async fn whole<T>(
    answering: Answering,
    read: Result<T, CollectError<hyper::Error>>,
    body: &mut Incoming,
) -> Result<(Answering, T), Refusal> {
    match read {
        Ok(read) => Ok((answering, read)),
        Err(error) if error.is_too_large() => {
            answering.end(End::Failed(Failure::too_large(ANSWER_MAX))).await?;
            discard(body).await;
            Err(Refusal::RequestEntityTooLarge { limit: ANSWER_MAX })
        }
        Err(_) => {
            answering.end(End::Failed(Failure::truncated())).await?;
            Err(Refusal::TruncatedRequest)
        }
    }
}

fn accepted() -> Response<Body> {
    json(StatusCode::ACCEPTED, Bytes::from_static(b"{\"status\":\"OK\"}\n"))
}

/// What AWS's own emulator sends with a length: it is what fits into the buffer of Go's server.
/// All else comes in chunks.
const LONGEST_WITH_LENGTH: usize = 2047;

/// 6 MiB and 100 bytes, as the Runtime API says when it refuses an answer.
pub(super) const ANSWER_MAX: u64 = 6_291_556;

const DEADLINE_MS: HeaderName = HeaderName::from_static("lambda-runtime-deadline-ms");

const INVOCATION_ID: HeaderName = HeaderName::from_static("lambda-runtime-invocation-id");

const RESPONSE_MODE: HeaderName = HeaderName::from_static("lambda-runtime-function-response-mode");

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::{HeaderMap, HeaderValue};
    use http_body::Body as _;

    use super::*;

    #[test]
    fn a_route_is_method_and_path() {
        for (method, path, expected) in [
            (Method::GET, "/2018-06-01/runtime/invocation/next", Some(Route::Next)),
            (
                Method::POST,
                "/2018-06-01/runtime/invocation/r-1/response",
                Some(Route::Response("r-1")),
            ),
            (Method::POST, "/2018-06-01/runtime/invocation/r-1/error", Some(Route::Error("r-1"))),
            (Method::POST, "/2018-06-01/runtime/init/error", Some(Route::InitError)),
            (Method::POST, "/2018-06-01/runtime/restore/error", Some(Route::InitError)),
            (Method::GET, "/2018-06-01/runtime/restore/next", Some(Route::RestoreNext)),
            (Method::POST, "/2018-06-01/runtime/invocation/next", None),
            (Method::GET, "/2018-06-01/runtime/invocation/next/", None),
            (Method::GET, "/2018-06-01/runtime/invocation/a/b/response", None),
            (Method::GET, "/2020-01-01/runtime/invocation/next", None),
            (Method::GET, "", None),
        ] {
            assert_eq!(route(&method, path), expected, "{method} {path}");
        }
    }

    #[test]
    fn events_above_2047_bytes_have_no_length() {
        for (size, length) in [(0, Some(0)), (2047, Some(2047)), (2048, None), (1 << 20, None)] {
            let response = event_response(Event {
                headers: HeaderMap::new(),
                timeout: Duration::from_secs(3),
                invocation_id: None,
                payload: vec![b'x'; size].into(),
            });
            assert_eq!(response.body().size_hint().exact(), length, "{size} bytes");
        }
    }

    #[test]
    fn no_timeout_is_too_long() {
        let response = event_response(Event {
            headers: HeaderMap::new(),
            timeout: Duration::MAX,
            invocation_id: Some(HeaderValue::from_static("n-1")),
            payload: Bytes::new(),
        });
        assert_eq!(response.headers()[DEADLINE_MS], u64::MAX.to_string());
        assert_eq!(response.headers()[INVOCATION_ID], "n-1");
    }
}
