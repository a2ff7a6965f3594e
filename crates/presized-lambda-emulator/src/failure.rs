//! A function error, as a caller gets to see it.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::json;

/// How a function failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) error_type: String,
    /// What the caller gets for an answer.
    pub(super) payload: Bytes,
}

impl Failure {
    /// What the runtime has posted: handed on as it is.
    pub(super) fn reported(error_type: Option<&HeaderValue>, payload: Bytes) -> Self {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Report {
            error_type: Option<String>,
        }
        let header = error_type.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = || serde_json::from_slice::<Report>(&payload).ok()?.error_type;
        let error_type = header.filter(|header| !header.is_empty()).or_else(body);
        Self { error_type: error_type.unwrap_or_else(|| UNKNOWN.to_owned()), payload }
    }

    /// What the trailers of a streamed answer say, if they say that it failed. The body is
    /// base64, as the clients of AWS write it, or else taken as it is.
    pub(super) fn in_trailers(trailers: &HeaderMap) -> Option<Self> {
        let error_type = trailers.get(ERROR_TYPE)?;
        let payload = trailers.get(ERROR_BODY).map_or_else(Bytes::new, |body| {
            STANDARD
                .decode(body)
                .map_or_else(|_| Bytes::copy_from_slice(body.as_bytes()), Bytes::from)
        });
        Some(Self::reported(Some(error_type), payload))
    }

    pub(super) fn timed_out(request_id: &str, after: Duration) -> Self {
        let seconds = after.as_secs_f64();
        let message =
            format!("RequestId: {request_id} Error: Task timed out after {seconds:.2} seconds");
        Self::of_lambda("Sandbox.Timedout", &message)
    }

    /// The process is gone.
    pub(super) fn exited(request_id: &str, how: &str) -> Self {
        let message = format!("RequestId: {request_id} Error: Runtime exited with error: {how}");
        Self::of_lambda("Runtime.ExitError", &message)
    }

    pub(super) fn too_large(limit: u64) -> Self {
        let message =
            format!("Response payload size exceeded maximum allowed payload size ({limit} bytes).");
        Self::of_lambda("Function.ResponseSizeTooLarge", &message)
    }

    /// The connection was cut before the end of the answer.
    pub(super) fn truncated() -> Self {
        Self::of_lambda("Runtime.TruncatedResponse", "Response was cut before its end")
    }

    pub(super) fn invalid_response_mode() -> Self {
        Self::of_lambda("Runtime.InvalidResponseModeHeader", "Invalid function response mode")
    }

    fn of_lambda(error_type: &str, message: &str) -> Self {
        let payload = json!({ "errorType": error_type, "errorMessage": message }).to_string();
        Self { error_type: error_type.to_owned(), payload: payload.into() }
    }
}

/// In the head of `/error`, and in the trailers of a streamed answer.
pub(super) const ERROR_TYPE: &str = "lambda-runtime-function-error-type";

const ERROR_BODY: &str = "lambda-runtime-function-error-body";

const UNKNOWN: &str = "Runtime.Unknown";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_that_of_the_header_or_else_of_the_report() {
        for (header, body, expected) in [
            (Some("Function.A"), r#"{"errorType":"B"}"#, "Function.A"),
            (None, r#"{"errorType":"B","errorMessage":"m"}"#, "B"),
            (Some(""), r#"{"errorType":"B"}"#, "B"),
            (None, r#"{"errorType":7}"#, "Runtime.Unknown"),
            (None, "", "Runtime.Unknown"),
        ] {
            let header = header.map(HeaderValue::from_static);
            let failure = Failure::reported(header.as_ref(), Bytes::from_static(body.as_bytes()));
            assert_eq!(
                (failure.error_type.as_str(), &failure.payload[..]),
                (expected, body.as_bytes())
            );
        }
    }

    #[test]
    fn trailers_without_a_type_are_no_failure() {
        let trailers = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs
                .iter()
                .map(|&(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)));
            Failure::in_trailers(&HeaderMap::from_iter(pairs))
        };
        assert_eq!(trailers(&[("x-checksum", "1")]), None);
        assert_eq!(trailers(&[("lambda-runtime-function-error-body", "e30=")]), None);
        for (body, payload) in [("e30=", "{}"), ("{}", "{}"), ("", "")] {
            let found = trailers(&[
                ("lambda-runtime-function-error-type", "Runtime.Broken"),
                ("lambda-runtime-function-error-body", body),
            ]);
            let expected = Failure { error_type: "Runtime.Broken".into(), payload: payload.into() };
            assert_eq!(found, Some(expected));
        }
    }

    #[test]
    fn what_lambda_says_is_json_with_type_and_message() {
        for (failure, expected) in [
            (
                Failure::too_large(6_291_556),
                r#"{"errorMessage":"Response payload size exceeded maximum allowed payload size (6291556 bytes).","errorType":"Function.ResponseSizeTooLarge"}"#,
            ),
            (
                Failure::timed_out("r-1", Duration::from_secs(3)),
                r#"{"errorMessage":"RequestId: r-1 Error: Task timed out after 3.00 seconds","errorType":"Sandbox.Timedout"}"#,
            ),
            (
                Failure::exited("r-1", "exit status: 1"),
                r#"{"errorMessage":"RequestId: r-1 Error: Runtime exited with error: exit status: 1","errorType":"Runtime.ExitError"}"#,
            ),
        ] {
            assert_eq!(failure.payload, expected);
        }
    }
}
