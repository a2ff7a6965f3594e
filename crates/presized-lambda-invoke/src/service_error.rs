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
///
/// `Display` shows the first 200 bytes of a body that has neither a code nor a message, such as the
/// body of a gateway, except with status 500.
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
        match (self.status.as_u16(), self.code.as_deref()) {
            (_, Some("EFSIOException")) => true,
            (_, Some(code)) if NOT_READY.contains(&code) => false,
            (503, Some("ServiceUnavailable")) => false,
            // The codes of Lambda end so. Gateways write other codes into their bodies.
            (500 | 502 | 503, Some(code)) => !code.ends_with("Exception"),
            _ => !self.status.is_client_error(),
        }
    }

    /// Returns whether the same call can succeed a little later.
    pub(super) fn is_transient(&self) -> bool {
        let failed = matches!(self.status.as_u16(), 500 | 503) && !self.may_have_run();
        let permanent = self.code.as_deref().is_some_and(|code| PERMANENT.contains(&code));
        let not_ready = self.code.as_deref().is_some_and(|code| NOT_READY.contains(&code));
        (failed && !permanent) || not_ready || self.is_throttling()
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

    /// Returns the beginning of the body if it is not that of an error of Lambda. The body of a
    /// gateway says which one it is.
    ///
    /// With status 500 it is `None`, because the body may be the payload of a failed function.
    fn foreign_text(&self) -> Option<String> {
        let is_foreign = self.code.is_none()
            && self.status != StatusCode::INTERNAL_SERVER_ERROR
            && !self.status.is_success()
            && !self.body.is_empty();
        let start = &self.body[..self.body.len().min(FOREIGN_TEXT)];
        // The end may be within a character.
        is_foreign
            .then(|| String::from_utf8_lossy(start).trim_end_matches('\u{fffd}').trim().to_owned())
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
            None => match self.foreign_text() {
                Some(text) => write!(f, ": response body begins with {text:?}"),
                None => Ok(()),
            },
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

/// The number of bytes of a foreign body that `Display` shows.
const FOREIGN_TEXT: usize = 200;

/// The codes of throttling that have a status other than 429, from `THROTTLING_ERRORS` of
/// `aws-runtime`.
const THROTTLING: [&str; 4] =
    ["EC2ThrottledException", "RequestLimitExceeded", "Throttling", "ThrottlingException"];

/// The codes of functions that Lambda cannot run yet. Lambda sends them with status 408, 409, 500
/// or 502 before the function runs, and the same call can succeed without a change to the function
/// (<https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_Errors>).
const NOT_READY: [&str; 14] = [
    "CodeArtifactUserDeletedException",
    "CodeArtifactUserPendingException",
    "EC2ThrottledException",
    "EC2UnexpectedException",
    "EFSMountConnectivityException",
    "EFSMountTimeoutException",
    "ENILimitReachedException",
    "ENINotReadyException",
    "ResourceNotReadyException",
    "S3FilesMountConnectivityException",
    "S3FilesMountTimeoutException",
    "SnapStartNotReadyException",
    "SnapStartTimeoutException",
    "SubnetIPAddressLimitReachedException",
];

/// The codes of functions that Lambda cannot run until their configuration or code changes.
/// Lambda sends some of them with status 500, which would otherwise be transient.
const PERMANENT: [&str; 16] = [
    "CodeArtifactUserFailedException",
    "EC2AccessDeniedException",
    "EFSMountFailureException",
    "InvalidRuntimeException",
    "InvalidSecurityGroupIDException",
    "InvalidSubnetIDException",
    "InvalidZipFileException",
    "KMSAccessDeniedException",
    "KMSDisabledException",
    "KMSInvalidStateException",
    "KMSNotFoundException",
    "NoPublishedVersionException",
    "RecursiveInvocationException",
    "S3FilesMountFailureException",
    "SnapStartException",
    "SnapStartRegenerationFailureException",
];

/// The codes of expired credentials.
const EXPIRED: [&str; 2] = ["ExpiredToken", "ExpiredTokenException"];

#[cfg(test)]
mod tests;
