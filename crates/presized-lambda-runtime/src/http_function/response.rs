//! The response to an event, in the JSON that its source understands.

use std::io::{self, ErrorKind, Write};

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue, SET_COOKIE};
use http::response::Parts;
use presized::{BufferPool, CollectError};

use super::encoding::{escaped_len, text_of, write_base64};
use crate::json::MARSHAL;
use crate::wire::RESPONSE_MAX;
use crate::{BoxError, ErrorReport};

/// The form of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The format of HTTP APIs and function URLs: one value for each header, and cookies.
    Version2,
    /// The format of REST and WebSocket APIs: several values for each header.
    Version1,
    /// The format of a load balancer: one value for each header, and the text of the status.
    LoadBalancer,
    /// The format of a load balancer whose target group has multi-value headers.
    LoadBalancerMultiValue,
}

/// Returns the response in JSON.
///
/// # Errors
///
/// Returns a report if it exceeds the limit of Lambda, or the value of a header is not UTF-8.
pub(super) fn to_json(
    head: &Parts,
    body: &[u8],
    form: Form,
    pool: &BufferPool,
) -> Result<Bytes, ErrorReport> {
    let text = text_of(&head.headers, body);
    let body_len = text.map_or_else(|| body.len().div_ceil(3) * 4, escaped_len);
    let headers = head.headers.iter();
    let headers_len: usize =
        headers.map(|(name, value)| name.as_str().len() + value.len() + PUNCTUATION).sum();
    let expected = FRAME + headers_len + body_len;
    let mut json = pool.writer(Some(expected as u64)).limit(RESPONSE_MAX);
    let written = write(&mut json, head, form, text.ok_or(body));
    written.map_err(|error| match error {
        WriteError::Header(name) => {
            ErrorReport::new(MARSHAL, format!("value of header {name} is not UTF-8"))
        }
        WriteError::Io(error) if error.kind() == ErrorKind::FileTooLarge => too_large(format!(
            "response exceeds {RESPONSE_MAX} bytes in JSON: its body has {} bytes; {SHORTER}",
            body.len()
        )),
        WriteError::Io(error) => ErrorReport::from_dyn(MARSHAL, &error),
    })?;
    Ok(json.into_bytes())
}

/// Returns the report of a body that could not be read.
pub(super) fn unreadable<E: Into<BoxError>>(error: CollectError<E>) -> ErrorReport {
    match error {
        CollectError::Body { source, .. } => body_failed(source),
        error if error.is_too_large() => {
            too_large(format!("response body exceeds {RESPONSE_MAX} bytes: {SHORTER}"))
        }
        // Its own message, without that of an error of the body.
        error => ErrorReport::new(UNREADABLE, error.to_string()),
    }
}

/// Returns the report of a body that gave an error.
pub(super) fn body_failed(error: impl Into<BoxError>) -> ErrorReport {
    ErrorReport::from_dyn(BODY_FAILED, &*error.into())
}

fn too_large(message: String) -> ErrorReport {
    ErrorReport::new(TOO_LARGE, message)
}

/// The cookies among headers of one value each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cookies {
    LeftOut,
    First,
}

enum WriteError {
    Header(HeaderName),
    Io(io::Error),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<serde_json::Error> for WriteError {
    fn from(error: serde_json::Error) -> Self {
        Self::Io(error.into())
    }
}

fn write(
    json: &mut impl Write,
    head: &Parts,
    form: Form,
    body: Result<&str, &[u8]>,
) -> Result<(), WriteError> {
    let status = head.status;
    json.write_all(b"{\"statusCode\":")?;
    json.write_all(status.as_str().as_bytes())?;
    if matches!(form, Form::LoadBalancer | Form::LoadBalancerMultiValue) {
        let reason = status.canonical_reason().unwrap_or_default();
        write!(json, ",\"statusDescription\":\"{} {reason}\"", status.as_str())?;
    }
    match form {
        Form::Version1 | Form::LoadBalancerMultiValue => {
            json.write_all(b",\"multiValueHeaders\":{")?;
            write_several(json, &head.headers)?;
        }
        Form::Version2 | Form::LoadBalancer => {
            json.write_all(b",\"headers\":{")?;
            let is_load_balancer = form == Form::LoadBalancer;
            let cookies = if is_load_balancer { Cookies::First } else { Cookies::LeftOut };
            write_joined(json, &head.headers, cookies)?;
        }
    }
    json.write_all(b"}")?;
    if form == Form::Version2 && head.headers.contains_key(SET_COOKIE) {
        json.write_all(b",\"cookies\":")?;
        write_values(json, &SET_COOKIE, head.headers.get_all(SET_COOKIE))?;
    }
    json.write_all(b",\"body\":")?;
    match body {
        Ok(text) => {
            serde_json::to_writer(&mut *json, text)?;
            json.write_all(b",\"isBase64Encoded\":false}")?;
        }
        Err(bytes) => {
            json.write_all(b"\"")?;
            write_base64(json, bytes)?;
            json.write_all(b"\",\"isBase64Encoded\":true}")?;
        }
    }
    Ok(())
}

/// Writes an array of values for each header.
fn write_several(json: &mut impl Write, headers: &HeaderMap) -> Result<(), WriteError> {
    let mut separator = "";
    for name in headers.keys() {
        // A name has no character that needs an escape (RFC 9110, section 5.6.2).
        write!(json, "{separator}\"{name}\":")?;
        write_values(json, name, headers.get_all(name))?;
        separator = ",";
    }
    Ok(())
}

fn write_values<'a>(
    json: &mut impl Write,
    name: &HeaderName,
    values: impl IntoIterator<Item = &'a HeaderValue>,
) -> Result<(), WriteError> {
    let mut separator: &[u8] = b"[";
    for value in values {
        json.write_all(separator)?;
        serde_json::to_writer(&mut *json, utf8(name, value)?)?;
        separator = b",";
    }
    json.write_all(b"]")?;
    Ok(())
}

/// Writes one value for each header. Several values are joined (RFC 9110, section 5.3).
///
/// Values of `Set-Cookie` cannot be joined. `cookies` says whether they are left out, because they are
/// elsewhere, or the first is written.
fn write_joined(
    json: &mut impl Write,
    headers: &HeaderMap,
    cookies: Cookies,
) -> Result<(), WriteError> {
    let mut separator = "";
    for name in headers.keys() {
        let mut values = headers.get_all(name).iter();
        let Some(first) = values.next() else { continue };
        if name == SET_COOKIE && cookies == Cookies::LeftOut {
            continue;
        }
        write!(json, "{separator}\"{name}\":")?;
        separator = ",";
        let first = utf8(name, first)?;
        if values.size_hint().0 == 0 {
            serde_json::to_writer(&mut *json, first)?;
        } else if name == SET_COOKIE {
            tracing::warn!("all cookies but one are dropped: enable multi-value headers");
            serde_json::to_writer(&mut *json, first)?;
        } else {
            let mut joined = first.to_owned();
            for value in values {
                joined.push_str(", ");
                joined.push_str(utf8(name, value)?);
            }
            serde_json::to_writer(&mut *json, &joined)?;
        }
    }
    Ok(())
}

fn utf8<'a>(name: &HeaderName, value: &'a HeaderValue) -> Result<&'a str, WriteError> {
    std::str::from_utf8(value.as_bytes()).map_err(|_| WriteError::Header(name.clone()))
}

/// The length of a response without headers and body is at most this.
const FRAME: usize = 160;

/// The quotes, brackets, colon and comma of a header.
const PUNCTUATION: usize = 8;

/// The remedy for a response that is too large.
const SHORTER: &str = "send less, or set `streaming` if the source reads streams";

const TOO_LARGE: &str = "Function.ResponseSizeTooLarge";

const UNREADABLE: &str = "Function.ResponseUnreadable";

const BODY_FAILED: &str = "Function.ResponseBodyFailed";
