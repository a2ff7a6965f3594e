//! The error of a function, as its caller gets it.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use presized_lambda_runtime::wire::{FUNCTION_ERROR_BODY, FUNCTION_ERROR_TYPE};
use serde::Deserialize;
use serde_json::json;

/// A function error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) error_type: String,
    /// The error report, which is the payload of the response.
    pub(crate) payload: Bytes,
}

impl Failure {
    /// Takes the error report of a runtime as it is. The type is from the header, or else from
    /// the report.
    pub(crate) fn reported(error_type: Option<&HeaderValue>, payload: Bytes) -> Self {
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

    /// Reads the error from the trailers of a streamed response, if they report one. The report
    /// is base64, as AWS's clients write it. Other bytes are taken as they are.
    pub(crate) fn in_trailers(trailers: &HeaderMap) -> Option<Self> {
        let error_type = trailers.get(FUNCTION_ERROR_TYPE)?;
        let payload = trailers.get(FUNCTION_ERROR_BODY).map_or_else(Bytes::new, |body| {
            STANDARD
                .decode(body)
                .map_or_else(|_| Bytes::copy_from_slice(body.as_bytes()), Bytes::from)
        });
        Some(Self::reported(Some(error_type), payload))
    }

    pub(crate) fn timed_out(request_id: &str, after: Duration) -> Self {
        let seconds = after.as_secs_f64();
        let message =
            format!("RequestId: {request_id} Error: Task timed out after {seconds:.2} seconds");
        Self::of_lambda("Sandbox.Timedout", &message)
    }

    /// Returns the error for a process that has ended with `status`.
    pub(crate) fn exited(request_id: &str, status: &str) -> Self {
        let message = format!("RequestId: {request_id} Error: Runtime exited with error: {status}");
        Self::of_lambda("Runtime.ExitError", &message)
    }

    pub(crate) fn too_large(limit: u64) -> Self {
        let message =
            format!("Response payload size exceeded maximum allowed payload size ({limit} bytes).");
        Self::of_lambda("Function.ResponseSizeTooLarge", &message)
    }

    /// Returns the error for a response whose connection ended too early.
    pub(crate) fn truncated() -> Self {
        Self::of_lambda("Runtime.TruncatedResponse", "Response ended before it was complete")
    }

    pub(crate) fn invalid_response_mode() -> Self {
        Self::of_lambda("Runtime.InvalidResponseModeHeader", "Invalid function response mode")
    }

    fn of_lambda(error_type: &str, message: &str) -> Self {
        let payload = json!({ "errorType": error_type, "errorMessage": message }).to_string();
        Self { error_type: error_type.to_owned(), payload: payload.into() }
    }
}

const UNKNOWN: &str = "Runtime.Unknown";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_type_is_read_from_the_header_or_else_from_the_report() {
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
    fn trailers_without_an_error_type_report_no_error() {
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
    fn errors_of_lambda_are_json_with_type_and_message() {
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
