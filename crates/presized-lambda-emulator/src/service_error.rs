//! Errors of the Invoke API.

use http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use serde_json::json;

use super::body::{self, Body};
use super::names::NameError;

/// Why a call is refused, before a function has to do with it.
#[derive(Debug)]
pub(super) enum ServiceError {
    /// The path or the method is of no operation.
    UnknownOperation,
    Name(NameError),
    FunctionNotFound {
        arn: String,
    },
    /// A header says what it may not.
    InvalidParameter {
        header: &'static str,
        value: String,
    },
    ClientContext,
    PayloadTooLarge {
        received: u64,
        limit: u64,
        invocation_type: &'static str,
    },
    /// The payload did not come to its end.
    PayloadTruncated,
    Throttled,
    /// The emulator is being dropped.
    Closed,
}

impl ServiceError {
    pub(super) fn response(&self) -> Response<Body> {
        let (status, code) = self.status_and_code();
        let message = self.message();
        let json = match self {
            // This shape has its message with a capital.
            Self::FunctionNotFound { .. } => json!({ "Type": "User", "Message": message }),
            Self::Throttled => json!({
                "Type": "User",
                "Reason": "ReservedFunctionConcurrentInvocationLimitExceeded",
                "message": message,
            }),
            Self::Closed => json!({ "Type": "Service", "Message": message }),
            _ => json!({ "Type": "User", "message": message }),
        };
        let mut response = body::json(status, json.to_string());
        response.headers_mut().insert(ERROR_TYPE, HeaderValue::from_static(code));
        if let Self::Throttled = self {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }

    /// <https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_Errors>
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::UnknownOperation | Self::Name(NameError::NoOperation) => {
                (StatusCode::NOT_FOUND, "UnknownOperationException")
            }
            Self::Name(NameError::Name(_) | NameError::Qualifier(_)) => {
                (StatusCode::BAD_REQUEST, "ValidationException")
            }
            Self::Name(NameError::TwoQualifiers) | Self::InvalidParameter { .. } => {
                (StatusCode::BAD_REQUEST, "InvalidParameterValueException")
            }
            Self::FunctionNotFound { .. } => (StatusCode::NOT_FOUND, "ResourceNotFoundException"),
            Self::ClientContext | Self::PayloadTruncated => {
                (StatusCode::BAD_REQUEST, "InvalidRequestContentException")
            }
            Self::PayloadTooLarge { .. } => {
                (StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLargeException")
            }
            Self::Throttled => (StatusCode::TOO_MANY_REQUESTS, "TooManyRequestsException"),
            Self::Closed => (StatusCode::INTERNAL_SERVER_ERROR, "ServiceException"),
        }
    }

    fn message(&self) -> String {
        match self {
            Self::UnknownOperation => NameError::NoOperation.to_string(),
            Self::Name(error) => error.to_string(),
            Self::FunctionNotFound { arn } => format!("Function not found: {arn}"),
            Self::InvalidParameter { header, value } => {
                format!("Value {value:?} of {header} is not supported")
            }
            Self::ClientContext => {
                "Client context must be a valid Base64-encoded JSON object.".to_owned()
            }
            Self::PayloadTooLarge { received, limit, invocation_type } => format!(
                "{received} byte payload is too large for the {invocation_type} invocation type \
                 (limit {limit} bytes)"
            ),
            Self::PayloadTruncated => "Could not read request body".to_owned(),
            Self::Throttled => "Rate Exceeded.".to_owned(),
            Self::Closed => "Emulator is shutting down".to_owned(),
        }
    }
}

const ERROR_TYPE: HeaderName = HeaderName::from_static("x-amzn-errortype");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_code_are_those_of_the_model() {
        let too_large = ServiceError::PayloadTooLarge {
            received: 6_291_457,
            limit: 6_291_456,
            invocation_type: "RequestResponse",
        };
        assert_eq!(
            too_large.message(),
            "6291457 byte payload is too large for the RequestResponse invocation type \
             (limit 6291456 bytes)"
        );
        for (error, status, code, retry_after) in [
            (too_large, 413, "RequestEntityTooLargeException", None),
            (ServiceError::Throttled, 429, "TooManyRequestsException", Some("1")),
            (
                ServiceError::FunctionNotFound { arn: "a".into() },
                404,
                "ResourceNotFoundException",
                None,
            ),
            (
                ServiceError::Name(NameError::TwoQualifiers),
                400,
                "InvalidParameterValueException",
                None,
            ),
            (ServiceError::Closed, 500, "ServiceException", None),
        ] {
            let response = error.response();
            let header = |name: &str| response.headers().get(name).and_then(|v| v.to_str().ok());
            assert_eq!(response.status(), status);
            assert_eq!(header("x-amzn-errortype"), Some(code));
            assert_eq!(header("retry-after"), retry_after);
        }
    }
}
