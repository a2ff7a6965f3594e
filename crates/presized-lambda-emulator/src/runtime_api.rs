//! The Runtime API of one function
//! (<https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html>).

mod posted_body;
mod refusal;
mod response_mode;
mod stream;

use std::future::pending;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use presized_lambda_runtime::wire::{DEADLINE_MS, EXTENSION_ID, INVOCATION_ID, Route};
use tokio::net::TcpListener;

use self::posted_body::PostedBody;
use crate::deployed::{Deployed, EnvironmentId, RuntimeConnection, RuntimeEvent, RuntimeSource};
use crate::fault::{FaultKind, FaultyApi};
use crate::response_body::{JSON, ResponseBody, empty_response, json_response, with_fault};
use crate::serve::serve;

pub(crate) use self::refusal::Refusal;

/// Serves runtimes that connect to the address of a function, until it is dropped.
pub(crate) async fn serve_function(listener: TcpListener, function: Arc<Deployed>) {
    serve(listener, HEAD_MAX, || {
        let connection = RuntimeConnection::new(&function);
        move |request| {
            let source = RuntimeSource::Connection(connection.id());
            respond(Arc::clone(connection.function()), source, request)
        }
    })
    .await;
}

/// Serves the runtime of one environment, until it is dropped.
pub(crate) async fn serve_environment(
    listener: TcpListener,
    function: Arc<Deployed>,
    id: EnvironmentId,
) {
    serve(listener, HEAD_MAX, || {
        let function = Arc::clone(&function);
        move |request| respond(Arc::clone(&function), RuntimeSource::Environment(id), request)
    })
    .await;
}

/// Responds to one request of a runtime.
async fn respond(
    function: Arc<Deployed>,
    source: RuntimeSource,
    request: Request<Incoming>,
) -> Response<ResponseBody> {
    let (head, body) = request.into_parts();
    let route = Route::parse(&head.method, head.uri.path());
    let mut posted = PostedBody::new(&function, source, &head.headers, body);
    let result = match route {
        Some(Route::NextInvocation) => next(&function, source).await,
        Some(Route::Response(id)) => posted.response(id).await.map(|()| accepted()),
        Some(Route::Error(id)) => posted.error(id).await.map(|()| accepted()),
        Some(Route::InitError | Route::RestoreError) => {
            posted.init_error().await.map(|()| accepted())
        }
        Some(Route::RestoreNext) => {
            function.restore(source).await.map(|()| empty_response(StatusCode::OK))
        }
        Some(Route::RegisterExtension) => Ok(registered()),
        // No extension gets an event.
        Some(Route::NextExtensionEvent) => pending().await,
        _ => Err(Refusal::NotFound),
    };
    let fault = match (&result, route) {
        (Ok(_), Some(Route::Response(_) | Route::Error(_))) => {
            function.faults().take(FaultyApi::Result)
        }
        _ => None,
    };
    let response = result.unwrap_or_else(|refusal| {
        function.count_rejected();
        refusal.response()
    });
    with_fault(response, fault).await
}

async fn next(
    function: &Arc<Deployed>,
    source: RuntimeSource,
) -> Result<Response<ResponseBody>, Refusal> {
    let mut poll = function.poll(source)?;
    let length = poll.event_length().await?;
    let fault = function.faults().take(FaultyApi::Next);
    let event = match fault {
        Some(FaultKind::Cut(cut)) if cut.after.is_none_or(|after| after < length) => poll.lose()?,
        _ => poll.event().await?,
    };
    Ok(with_fault(event_response(event), fault).await)
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

/// Returns the response to an extension that registers.
fn registered() -> Response<ResponseBody> {
    let mut response = json_response(StatusCode::OK, Bytes::from_static(b"{}\n"));
    let id = HeaderValue::from_static("00000000-0000-4000-8000-000000000000");
    response.headers_mut().insert(EXTENSION_ID, id);
    response
}

fn accepted() -> Response<ResponseBody> {
    json_response(StatusCode::ACCEPTED, Bytes::from_static(b"{\"status\":\"OK\"}\n"))
}

/// The length in bytes of the longest head of a request: 1 MiB and 4 KiB.
///
/// AWS's own emulator accepts as much, because it is the default of Go's server
/// (<https://pkg.go.dev/net/http#DefaultMaxHeaderBytes>). A runtime needs it for the cause of an
/// error for X-Ray.
const HEAD_MAX: usize = (1 << 20) + (4 << 10);

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
