//! The errors of the Invoke API.

use http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use presized_lambda_invoke::wire::ERROR_TYPE;
use serde_json::json;

use super::call_type::CallType;
use super::route::RouteError;
use crate::deployed::Throttled;
use crate::response_body::{ResponseBody, json_response};

/// The error for a call that is refused before the function gets it.
#[derive(Debug)]
pub(super) enum ServiceError {
    Route(RouteError),
    FunctionNotFound {
        arn: String,
    },
    /// A header has an unknown value.
    InvalidParameter {
        header: HeaderName,
        value: String,
    },
    ClientContext,
    PayloadTooLarge {
        received: u64,
        limit: u64,
        call_type: CallType,
    },
    /// The connection ended before the payload was complete.
    PayloadTruncated,
    Throttled(Throttled),
    /// The request was signed too long before or after the time of the emulator.
    ClockSkew(String),
    /// The emulator is being dropped.
    Closed,
}

impl ServiceError {
    pub(super) fn invalid_parameter(header: &HeaderName, value: &HeaderValue) -> Self {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        Self::InvalidParameter { header: header.clone(), value }
    }

    pub(super) fn response(&self) -> Response<ResponseBody> {
        let (status, code) = self.status_and_code();
        let message = self.message();
        let json = match self {
            // The model of this error has `Message` instead of `message`.
            Self::FunctionNotFound { .. } => json!({ "Type": "User", "Message": message }),
            Self::Throttled(throttled) => json!({
                "Type": "User",
                "Reason": match throttled {
                    Throttled::Account => "ConcurrentInvocationLimitExceeded",
                    Throttled::Function => "ReservedFunctionConcurrentInvocationLimitExceeded",
                },
                "message": message,
            }),
            Self::Closed => json!({ "Type": "Service", "Message": message }),
            _ => json!({ "Type": "User", "message": message }),
        };
        let mut response = json_response(status, json.to_string());
        response.headers_mut().insert(ERROR_TYPE, HeaderValue::from_static(code));
        if let Self::Throttled(_) = self {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }

    /// <https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_Errors>
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Route(RouteError::UnknownOperation) => {
                (StatusCode::NOT_FOUND, "UnknownOperationException")
            }
            Self::Route(RouteError::FunctionName(_) | RouteError::Qualifier(_)) => {
                (StatusCode::BAD_REQUEST, "ValidationException")
            }
            Self::Route(RouteError::TwoQualifiers) | Self::InvalidParameter { .. } => {
                (StatusCode::BAD_REQUEST, "InvalidParameterValueException")
            }
            Self::FunctionNotFound { .. } => (StatusCode::NOT_FOUND, "ResourceNotFoundException"),
            Self::ClientContext | Self::PayloadTruncated => {
                (StatusCode::BAD_REQUEST, "InvalidRequestContentException")
            }
            Self::PayloadTooLarge { .. } => {
                (StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLargeException")
            }
            Self::ClockSkew(_) => (StatusCode::FORBIDDEN, "InvalidSignatureException"),
            Self::Throttled(_) => (StatusCode::TOO_MANY_REQUESTS, "TooManyRequestsException"),
            Self::Closed => (StatusCode::INTERNAL_SERVER_ERROR, "ServiceException"),
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Route(error) => error.to_string(),
            Self::FunctionNotFound { arn } => format!("Function not found: {arn}"),
            Self::InvalidParameter { header, value } => {
                format!("Value {value:?} of {header} is not supported")
            }
            Self::ClientContext => {
                "Client context must be a valid Base64-encoded JSON object.".to_owned()
            }
            Self::PayloadTooLarge { received, limit, call_type } => format!(
                "{received} byte payload is too large for the {} invocation type \
                 (limit {limit} bytes)",
                call_type.as_str()
            ),
            Self::PayloadTruncated => "Could not read request body".to_owned(),
            Self::Throttled(_) => "Rate Exceeded.".to_owned(),
            Self::ClockSkew(message) => message.clone(),
            Self::Closed => "Emulator is shutting down".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_code_match_the_api_model() {
        let too_large = ServiceError::PayloadTooLarge {
            received: 6_291_457,
            limit: 6_291_456,
            call_type: CallType::RequestResponse,
        };
        assert_eq!(
            too_large.message(),
            "6291457 byte payload is too large for the RequestResponse invocation type \
             (limit 6291456 bytes)"
        );
        for (error, status, code, retry_after) in [
            (too_large, 413, "RequestEntityTooLargeException", None),
            (
                ServiceError::Throttled(Throttled::Account),
                429,
                "TooManyRequestsException",
                Some("1"),
            ),
            (
                ServiceError::FunctionNotFound { arn: "a".into() },
                404,
                "ResourceNotFoundException",
                None,
            ),
            (
                ServiceError::Route(RouteError::TwoQualifiers),
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
