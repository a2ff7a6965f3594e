//! The HTTP prelude of a streamed response.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::header::{HeaderMap, SET_COOKIE};
use http::{StatusCode, response};
use serde::Serialize;

use super::ErrorReport;
use super::wire::PRELUDE_END;

/// The status, headers and cookies of a streamed HTTP response.
///
/// # Examples
///
/// ```
/// use http::{Response, StatusCode};
/// use presized_lambda_runtime::HttpPrelude;
///
/// let mut prelude = HttpPrelude::new(StatusCode::OK);
/// prelude.cookies.push("a=b; Secure".to_owned());
///
/// let (head, body) = Response::builder().header("x-kind", "page").body("...")?.into_parts();
/// let prelude = HttpPrelude::from(head);
/// # Ok::<_, http::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct HttpPrelude {
    /// The status.
    pub status: StatusCode,
    /// The headers. Their values must be UTF-8.
    ///
    /// Values of one name are joined by commas. Values of `Set-Cookie` are added to the cookies.
    pub headers: HeaderMap,
    /// The cookies, each as the value of a `Set-Cookie` header.
    pub cookies: Vec<String>,
}

impl HttpPrelude {
    /// Creates a prelude without headers and cookies.
    pub fn new(status: StatusCode) -> Self {
        Self { status, ..Self::default() }
    }

    /// Returns the prelude in JSON and its end marker.
    ///
    /// # Errors
    ///
    /// Returns a report if the value of a header is not UTF-8.
    pub(super) fn encode(&self) -> Result<Bytes, ErrorReport> {
        let mut prelude = PreludeJson {
            status_code: self.status.as_u16(),
            headers: BTreeMap::new(),
            cookies: self.cookies.iter().map(String::as_str).collect(),
        };
        for (name, value) in &self.headers {
            let value = std::str::from_utf8(value.as_bytes()).map_err(|error| {
                let valid = error.valid_up_to();
                let message = format!("value of header {name} is not UTF-8 from byte {valid} on");
                ErrorReport::new(INVALID_PRELUDE, message)
            })?;
            if name == SET_COOKIE {
                prelude.cookies.push(value);
            } else {
                let values = prelude.headers.entry(name.as_str()).or_default();
                // RFC 9110, section 5.3.
                if !values.is_empty() {
                    values.push_str(", ");
                }
                values.push_str(value);
            }
        }
        let mut encoded = serde_json::to_vec(&prelude)
            .map_err(|error| ErrorReport::new(INVALID_PRELUDE, error.to_string()))?;
        encoded.extend_from_slice(&PRELUDE_END);
        Ok(encoded.into())
    }
}

impl From<response::Parts> for HttpPrelude {
    fn from(head: response::Parts) -> Self {
        Self { status: head.status, headers: head.headers, cookies: Vec::new() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PreludeJson<'a> {
    status_code: u16,
    headers: BTreeMap<&'a str, String>,
    cookies: Vec<&'a str>,
}

const INVALID_PRELUDE: &str = "Runtime.InvalidHttpPrelude";

#[cfg(test)]
mod tests {
    use http::header::HeaderValue;

    use super::*;

    #[test]
    fn prelude_is_json_and_eight_zero_bytes() {
        let mut prelude = HttpPrelude::new(StatusCode::NOT_FOUND);
        prelude.cookies.push("a=b".to_owned());
        prelude.headers.append("vary", HeaderValue::from_static("accept"));
        prelude.headers.append("vary", HeaderValue::from_static("origin"));
        prelude.headers.append("set-cookie", HeaderValue::from_static("c=d"));
        prelude.headers.append("x-name", HeaderValue::from_bytes(b"\xc3\xa9").unwrap());
        let expected = "{\"statusCode\":404,\
             \"headers\":{\"vary\":\"accept, origin\",\"x-name\":\"\u{e9}\"},\
             \"cookies\":[\"a=b\",\"c=d\"]}\0\0\0\0\0\0\0\0";
        assert_eq!(prelude.encode().unwrap(), expected);
    }

    #[test]
    fn header_value_that_is_not_utf8_is_reported_by_name() {
        let mut prelude = HttpPrelude::default();
        prelude.headers.append("x-name", HeaderValue::from_bytes(b"\xe9").unwrap());
        let report = prelude.encode().unwrap_err();
        assert_eq!(report.error_type, "Runtime.InvalidHttpPrelude");
        assert!(report.error_message.contains("header x-name"), "{}", report.error_message);
    }
}
