//! The errors of the Runtime API, in the words of AWS's own emulator.

use std::fmt;

use http::{Response, StatusCode};
use serde_json::json;

use crate::response_body::{ResponseBody, json_response};

/// The error for a request of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    NotFound,
    InvalidRequestId,
    InvalidStateTransition {
        from: &'static str,
        to: &'static str,
    },
    InvalidFunctionResponseMode,
    InvokeTimeout,
    RequestEntityTooLarge {
        limit: u64,
    },
    TruncatedRequest,
    /// The emulator is being dropped.
    Internal,
}

impl Refusal {
    pub(crate) fn response(self) -> Response<ResponseBody> {
        json_response(self.status(), self.json())
    }

    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::InvalidRequestId | Self::InvalidFunctionResponseMode | Self::TruncatedRequest => {
                StatusCode::BAD_REQUEST
            }
            Self::InvalidStateTransition { .. } => StatusCode::FORBIDDEN,
            Self::InvokeTimeout => StatusCode::GONE,
            Self::RequestEntityTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn json(self) -> String {
        let error_type = match self {
            Self::NotFound => "NotFound",
            Self::InvalidRequestId => "InvalidRequestID",
            Self::InvalidStateTransition { .. } => "InvalidStateTransition",
            Self::InvalidFunctionResponseMode => "InvalidFunctionResponseMode",
            Self::InvokeTimeout => "InvokeTimeout",
            Self::RequestEntityTooLarge { .. } => "RequestEntityTooLarge",
            Self::TruncatedRequest => "TruncatedHTTPRequest",
            Self::Internal => "InternalServerError",
        };
        json!({ "errorMessage": self.to_string(), "errorType": error_type }).to_string()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("No such path"),
            Self::InvalidRequestId => f.write_str("Invalid request ID"),
            Self::InvalidStateTransition { from, to } => write!(
                f,
                "State transition from {from} to {to} failed for runtime. \
                 Error: State transition is not allowed"
            ),
            Self::InvalidFunctionResponseMode => f.write_str("Invalid function response mode"),
            Self::InvokeTimeout => f.write_str("Invoke timeout"),
            Self::RequestEntityTooLarge { limit } => {
                write!(f, "Exceeded maximum allowed payload size ({limit} bytes).")
            }
            Self::TruncatedRequest => f.write_str("HTTP request detected as truncated"),
            Self::Internal => f.write_str("Internal Server Error"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_have_the_status_and_json_of_the_real_runtime_api() {
        for (refusal, status, json) in [
            (
                Refusal::InvalidRequestId,
                400,
                r#"{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}"#,
            ),
            (
                Refusal::RequestEntityTooLarge { limit: 6_291_556 },
                413,
                r#"{"errorMessage":"Exceeded maximum allowed payload size (6291556 bytes).","errorType":"RequestEntityTooLarge"}"#,
            ),
            (
                Refusal::InvalidStateTransition { from: "Running", to: "Ready" },
                403,
                r#"{"errorMessage":"State transition from Running to Ready failed for runtime. Error: State transition is not allowed","errorType":"InvalidStateTransition"}"#,
            ),
            (
                Refusal::InvokeTimeout,
                410,
                r#"{"errorMessage":"Invoke timeout","errorType":"InvokeTimeout"}"#,
            ),
        ] {
            assert_eq!((refusal.status().as_u16(), refusal.json().as_str()), (status, json));
        }
    }
}
