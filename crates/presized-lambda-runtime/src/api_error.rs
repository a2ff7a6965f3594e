//! An error of the Runtime API.

use std::fmt;

use http::{StatusCode, response};
use http_body::Body;
use presized::Collect;
use serde::Deserialize;

/// An error that the Runtime API returned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiError {
    /// The status of the response.
    pub status: StatusCode,
    /// The member `errorType` of the response body, such as `InvalidRequestID`.
    pub error_type: Option<String>,
    /// The member `errorMessage` of the response body.
    pub message: Option<String>,
}

impl ApiError {
    /// Reads an error response. A body that cannot be read leaves only the status.
    pub(super) async fn read<B: Body>(head: &response::Parts, body: B) -> Self {
        let content = Collect::new(body, BODY_MAX).prefix().await;
        let parsed = content.ok().and_then(|body| serde_json::from_slice(&body.content).ok());
        let ErrorBody { error_type, error_message } = parsed.unwrap_or_default();
        Self { status: head.status, error_type, message: error_message }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.error_type {
            Some(error_type) => write!(f, "{error_type} (status {})", self.status.as_u16()),
            None => write!(f, "status {}", self.status.as_u16()),
        }?;
        match &self.message {
            Some(message) => write!(f, ": {message}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ApiError {}

/// The body of an error response.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ErrorBody {
    error_type: Option<String>,
    error_message: Option<String>,
}

/// The maximum length of an error body. The Runtime API sends one line of JSON.
const BODY_MAX: u64 = 64 << 10;
