//! The error response of Lambda.

use std::fmt;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, RETRY_AFTER};
use http::{StatusCode, response};
use serde::Deserialize;

use super::wire;

/// An error that Lambda returned instead of a response of the function.
///
/// The
/// [API reference](https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_Errors)
/// lists the codes. Other codes are kept unchanged.
#[derive(Clone)]
#[non_exhaustive]
pub struct ServiceError {
    /// The status of the response.
    pub status: StatusCode,
    /// The code of the error without a namespace, such as `ResourceNotFoundException`.
    pub code: Option<String>,
    /// The message of Lambda.
    pub message: Option<String>,
    /// The request id.
    pub request_id: Option<String>,
    /// The time that Lambda asks the client to wait before a retry.
    pub retry_after: Option<Duration>,
    /// The limit that the call exceeded, for status 429.
    pub reason: Option<String>,
    /// The response body, at most its first 64 KiB. For an error in a stream it is the payload of
    /// the event.
    pub body: Bytes,
}

impl ServiceError {
    /// Returns whether Lambda refused the call because of its rate or concurrency.
    pub fn is_throttling(&self) -> bool {
        self.status == StatusCode::TOO_MANY_REQUESTS
            || self.code.as_deref().is_some_and(|code| THROTTLING.contains(&code))
    }

    /// Returns whether the function may have run.
    ///
    /// Lambda refuses a call before it runs the function, except if the file system of the
    /// function fails. A response may also come from a gateway, or from another server of the same
    /// API that reports a failed function with status 500.
    pub(super) fn may_have_run(&self) -> bool {
        match (self.status, self.code.as_deref()) {
            (_, Some("EFSIOException")) => true,
            (StatusCode::SERVICE_UNAVAILABLE, _) => false,
            // The codes of Lambda end so. Gateways write other codes into their bodies.
            (StatusCode::INTERNAL_SERVER_ERROR | StatusCode::BAD_GATEWAY, Some(code)) => {
                !code.ends_with("Exception")
            }
            (status, _) => !status.is_client_error(),
        }
    }

    /// Returns whether the same call can succeed a little later.
    pub(super) fn is_transient(&self) -> bool {
        let failed = matches!(self.status.as_u16(), 500 | 503) && !self.may_have_run();
        failed || self.is_throttling()
    }

    /// Returns whether the response tells nothing about the call, because a gateway may have sent
    /// it.
    pub(super) fn is_gateway(&self) -> bool {
        self.may_have_run() && self.status.is_server_error()
    }

    /// Returns whether the credentials have expired.
    pub(super) fn is_expired_token(&self) -> bool {
        self.code.as_deref().is_some_and(|code| EXPIRED.contains(&code))
    }

    /// Parses the error from the head and the body. The body may be incomplete, or not JSON if a
    /// proxy sent it.
    pub(super) fn parse(head: &response::Parts, body: Bytes) -> Self {
        let details: Details = serde_json::from_slice(&body).unwrap_or_default();
        let code = text(&head.headers, &wire::ERROR_TYPE)
            .or(details.type_name)
            .or(details.code)
            .and_then(|code| plain_code(&code));
        Self {
            status: head.status,
            code,
            message: details.message.or(details.upper_message),
            request_id: request_id(&head.headers),
            retry_after: retry_after(&head.headers),
            reason: details.reason,
            body,
        }
    }
}

impl fmt::Debug for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceError")
            .field("status", &self.status)
            .field("code", &self.code)
            .field("message", &self.message)
            .field("request_id", &self.request_id)
            .field("retry_after", &self.retry_after)
            .field("reason", &self.reason)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish()
    }
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} (status {}",
            self.code.as_deref().unwrap_or("service error"),
            self.status.as_u16()
        )?;
        if let Some(reason) = &self.reason {
            write!(f, ", reason {reason}")?;
        }
        if let Some(request_id) = &self.request_id {
            write!(f, ", request {request_id}")?;
        }
        write!(f, ")")?;
        match &self.message {
            Some(message) => write!(f, ": {message}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ServiceError {}

/// Returns the request id.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    text(headers, &wire::REQUEST_ID)
}

/// Returns the value of a header if it is text.
pub(super) fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Returns the code without its namespace and its URL. The longest form is `namespace#Code:URL`
/// (<https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html#operation-error-serialization>).
fn plain_code(code: &str) -> Option<String> {
    let code = code.split_once(':').map_or(code, |(code, _)| code);
    let code = code.rsplit_once('#').map_or(code, |(_, code)| code).trim();
    (!code.is_empty()).then(|| code.to_owned())
}

/// Returns the time to wait, from seconds or a date (RFC 9110, section 10.2.3). It is zero for a date
/// in the past.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that does not fit is longer than any deadline, as the largest number is.
        return (!value.is_empty()).then(|| Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

#[derive(Default, Deserialize)]
struct Details {
    #[serde(rename = "__type")]
    type_name: Option<String>,
    code: Option<String>,
    message: Option<String>,
    #[serde(rename = "Message")]
    upper_message: Option<String>,
    #[serde(rename = "Reason")]
    reason: Option<String>,
}

/// The codes of throttling that have a status other than 429, from `THROTTLING_ERRORS` of
/// `aws-runtime`.
const THROTTLING: [&str; 4] =
    ["EC2ThrottledException", "RequestLimitExceeded", "Throttling", "ThrottlingException"];

/// The codes of expired credentials.
const EXPIRED: [&str; 2] = ["ExpiredToken", "ExpiredTokenException"];

#[cfg(test)]
mod tests {
    use http::Response;

    use super::*;

    fn parsed(status: u16, headers: &[(&str, &str)], body: &'static str) -> ServiceError {
        let mut response = Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        let (head, ()) = response.body(()).unwrap().into_parts();
        ServiceError::parse(&head, Bytes::from_static(body.as_bytes()))
    }

    #[test]
    fn code_and_message_are_found_in_headers_and_body() {
        let header = |value| [("x-amzn-ErrorType", value)];
        for (headers, body, code, message) in [
            (&header("A")[..], "{}", Some("A"), None),
            (&header("A:http://internal/"), r#"{"message":"m"}"#, Some("A"), Some("m")),
            (&header("ns#A:x"), r#"{"Message":"M"}"#, Some("A"), Some("M")),
            (&header("A"), r#"{"__type":"B","code":"C"}"#, Some("A"), None),
            (&[], r#"{"__type":"ns.x#B","Type":"User","message":"m"}"#, Some("B"), Some("m")),
            (&[], r#"{"code":"C","message":null,"Message":"M"}"#, Some("C"), Some("M")),
            (&[], r#"{"message":"m"}"#, None, Some("m")),
            (&[], "<html>Bad Gateway</html>", None, None),
            (&[], r#"{"message":"cut he"#, None, None),
            (&[], r#"{"message":7}"#, None, None),
            (&[], "", None, None),
            (&header(""), r#"{"code":"C"}"#, None, None),
        ] {
            let error = parsed(400, headers, body);
            let case = format!("{headers:?} {body}");
            assert_eq!(
                (error.code.as_deref(), error.message.as_deref()),
                (code, message),
                "{case}"
            );
        }
    }

    #[test]
    fn retry_after_is_parsed_from_seconds_or_a_date() {
        for (value, expected) in [
            ("0", Some(0)),
            ("3", Some(3)),
            (" 3 ", Some(3)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            let error = parsed(429, &[("retry-after", value)], "{}");
            assert_eq!(error.retry_after, expected.map(Duration::from_secs), "{value:?}");
        }
        let far = parsed(429, &[("retry-after", "Tue, 31 Dec 2999 23:59:59 GMT")], "{}");
        assert!(far.retry_after > Some(Duration::from_secs(3600)), "{far:?}");
    }

    #[test]
    fn transient_error_cannot_have_run_the_function() {
        for (status, code, transient, may_have_run) in [
            (429, "TooManyRequestsException", true, false),
            (500, "ServiceException", true, false),
            // Another server of the same API, for a function that failed.
            (500, "", false, true),
            (500, "InternalServerError", false, true),
            (503, "", true, false),
            (502, "EC2ThrottledException", true, false),
            (502, "EC2AccessDeniedException", false, false),
            (502, "ENILimitReachedException", false, false),
            (502, "KMSDisabledException", false, false),
            (502, "InvalidZipFileException", false, false),
            // A gateway between the client and Lambda.
            (502, "", false, true),
            (502, "BAD_GATEWAY", false, true),
            (504, "", false, true),
            (400, "InvalidParameterValueException", false, false),
            (403, "AccessDeniedException", false, false),
            (404, "ResourceNotFoundException", false, false),
            (410, "EFSIOException", false, true),
            (413, "RequestEntityTooLargeException", false, false),
        ] {
            let error = parsed(status, &[("x-amzn-errortype", code)], "{}");
            let found = (error.is_transient(), error.may_have_run());
            assert_eq!(found, (transient, may_have_run), "{status} {code}");
        }
    }

    #[test]
    fn display_and_debug_show_no_body() {
        let error = parsed(
            429,
            &[("x-amzn-errortype", "TooManyRequestsException"), ("x-amzn-requestid", "r-1")],
            r#"{"Reason":"ReservedFunctionConcurrentInvocationLimitExceeded","message":"Rate Exceeded."}"#,
        );
        assert!(error.is_throttling());
        assert_eq!(
            error.to_string(),
            "TooManyRequestsException (status 429, reason \
             ReservedFunctionConcurrentInvocationLimitExceeded, request r-1): Rate Exceeded."
        );
        assert!(format!("{error:?}").contains("body: 89 bytes"), "{error:?}");
    }
}
