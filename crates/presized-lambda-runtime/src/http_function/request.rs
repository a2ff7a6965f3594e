//! The request of an event.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{COOKIE, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request};

use super::event::Event;
use super::pairs::Pairs;
use super::response::Form;
use super::{HttpSource, RequestBody, RequestContext, StagePath, uri};
use crate::json::UNMARSHAL;
use crate::text::Text;
use crate::{Context, ErrorReport};

/// Returns the request of an event, and the form of the response that its source understands.
///
/// # Errors
///
/// Returns a report if the event does not come from an HTTP source, or is invalid.
pub(super) fn of_event(
    json: Bytes,
    context: Context,
    stage_path: StagePath,
) -> Result<(Request<RequestBody>, Form), ErrorReport> {
    let mut event = Event::parse(&json)?;
    let source = event.source().ok_or_else(|| invalid(UNKNOWN_SOURCE))?;
    let form = match source {
        HttpSource::HttpApi | HttpSource::FunctionUrl => Form::Version2,
        HttpSource::RestApi | HttpSource::WebSocketApi => Form::Version1,
        HttpSource::LoadBalancer if event.multi_value_headers.is_some() => {
            Form::LoadBalancerMultiValue
        }
        HttpSource::LoadBalancer => Form::LoadBalancer,
    };
    let method = match (&event.request_context.http, &event.http_method) {
        (Some(http), _) => method(&http.method)?,
        (None, Some(text)) => method(text)?,
        (None, None) => Method::GET,
    };
    let mut headers = headers(&json, &mut event)?;
    if let Some(id) = context.trace_id.as_deref().and_then(|id| HeaderValue::from_str(id).ok()) {
        headers.insert(TRACE_ID, id);
    }
    let uri = uri::of_event(&event, source, &headers, stage_path)?;
    let body = body(&json, &mut event)?;
    let mut request = Request::new(RequestBody::from(body));
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    request.extensions_mut().insert(context);
    drop(event);
    request.extensions_mut().insert(RequestContext { source, json });
    Ok((request, form))
}

fn method(text: &str) -> Result<Method, ErrorReport> {
    Method::from_bytes(text.as_bytes()).map_err(|_| invalid(format!("method {text:?} is invalid")))
}

/// Returns all values of all headers, and the cookies in one header.
fn headers(json: &Bytes, event: &mut Event<'_>) -> Result<HeaderMap, ErrorReport> {
    let Pairs(several) = event.multi_value_headers.take().unwrap_or_default();
    let Pairs(single) = event.headers.take().unwrap_or_default();
    let count = several.len() + single.len();
    // The map panics when it is full, which ends a process whose panics abort.
    if count > HEADERS_MAX {
        return Err(invalid(format!(
            "event has {count} headers, of which a request has at most {HEADERS_MAX}: send fewer"
        )));
    }
    let mut headers = HeaderMap::with_capacity(several.len().max(single.len()) + ADDED_HEADERS);
    let has_several = !several.is_empty();
    for (name, value) in several {
        headers.append(header_name(&name)?, header_value(json, &name, value)?);
    }
    for (name, value) in single {
        // The last value of a header that was sent several times.
        if has_several && headers.contains_key(&*name) {
            continue;
        }
        headers.append(header_name(&name)?, header_value(json, &name, value)?);
    }
    if let Some(cookies) = event.cookies.take().filter(|cookies| !cookies.is_empty()) {
        let mut joined = String::with_capacity(cookies.iter().map(|cookie| cookie.len() + 2).sum());
        for cookie in &cookies {
            // RFC 6265, section 5.4.
            joined.push_str(if joined.is_empty() { "" } else { "; " });
            joined.push_str(cookie);
        }
        let value = HeaderValue::from_maybe_shared(Bytes::from(joined));
        headers.insert(COOKIE, value.map_err(|_| invalid("value of a cookie is invalid"))?);
    }
    Ok(headers)
}

fn header_name(name: &str) -> Result<HeaderName, ErrorReport> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| invalid(format!("name of header {name:?} is invalid")))
}

fn header_value(json: &Bytes, name: &str, value: Text<'_>) -> Result<HeaderValue, ErrorReport> {
    HeaderValue::from_maybe_shared(value.into_bytes(json))
        .map_err(|_| invalid(format!("value of header {name} is invalid")))
}

fn body(json: &Bytes, event: &mut Event<'_>) -> Result<Bytes, ErrorReport> {
    let body = event.body.take().unwrap_or_default();
    if !event.is_base64_encoded.unwrap_or_default() {
        return Ok(body.into_bytes(json));
    }
    let decoded = STANDARD.decode(body.as_bytes());
    decoded.map(Bytes::from).map_err(|error| invalid(format!("body is not base64: {error}")))
}

fn invalid(message: impl Into<String>) -> ErrorReport {
    ErrorReport::new(UNMARSHAL, message)
}

const UNKNOWN_SOURCE: &str =
    "event comes from none of API Gateway, a function URL and an Application Load Balancer";

const TRACE_ID: HeaderName = HeaderName::from_static("x-amzn-trace-id");

/// The trace id and the cookies.
const ADDED_HEADERS: usize = 2;

/// The number of headers that leaves room in a [`HeaderMap`] for those that a service adds. AWS sends
/// at most 10 KB of headers.
const HEADERS_MAX: usize = 16 << 10;
