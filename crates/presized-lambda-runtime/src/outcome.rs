//! What the Runtime API makes of an answer.

use std::fmt;

use http::{StatusCode, response};
use http_body::Body;
use serde::Deserialize;

use super::Error;
use presized::Collect;

/// What became of an answer that the Runtime API has received.
///
/// None of these is a reason to stop asking for invocations, or to answer this one again. The
/// statuses are those of the
/// [Runtime API](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html#runtimes-api-response).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the answer may have been refused"]
#[non_exhaustive]
pub enum Answered {
    /// It was taken.
    Accepted,
    /// It is longer than Lambda takes (413), and the caller has been told so: no report of it is
    /// to follow. The
    /// [limits](https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html) are
    /// Lambda's, and nothing is refused before it is sent.
    TooLarge(ApiError),
    /// The invocation had timed out, or is another's by now (410).
    TooLate(ApiError),
    /// It was refused for another reason: the invocation has been answered already, or is not
    /// known (400, 403).
    ///
    /// An answer whose connection broke is sent a second time, so that the first one can be why.
    Rejected(ApiError),
}

/// An error as the Runtime API tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiError {
    /// The status.
    pub status: StatusCode,
    /// `errorType` of the body, as `InvalidRequestID`.
    pub error_type: Option<String>,
    /// `errorMessage` of the body.
    pub message: Option<String>,
}

impl Answered {
    /// Whether the answer was taken.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted)
    }

    /// Why it was not.
    pub fn as_api_error(&self) -> Option<&ApiError> {
        match self {
            Self::Accepted => None,
            Self::TooLarge(error) | Self::TooLate(error) | Self::Rejected(error) => Some(error),
        }
    }

    /// What a refusal of an answer says, or that there was none.
    ///
    /// # Errors
    ///
    /// The refusal itself, where it is not about the answer.
    pub(super) fn of(refusal: Option<ApiError>) -> Result<Self, Error> {
        let Some(error) = refusal else { return Ok(Self::Accepted) };
        match error.status {
            StatusCode::PAYLOAD_TOO_LARGE => Ok(Self::TooLarge(error)),
            StatusCode::GONE => Ok(Self::TooLate(error)),
            status if status.is_client_error() => Ok(Self::Rejected(error)),
            _ => Err(error.into()),
        }
    }
}

impl ApiError {
    /// Reads an error response. Its status is told though the body may not be readable.
    pub(super) async fn read<B: Body>(head: &response::Parts, body: B) -> Self {
        let content = Collect::new(body, BODY_LIMIT).prefix().await;
        let reported = content.ok().and_then(|body| serde_json::from_slice(&body.content).ok());
        let Reported { error_type, error_message } = reported.unwrap_or_default();
        Self { status: head.status, error_type, message: error_message }
    }
}

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted => f.write_str("answer accepted"),
            Self::TooLarge(error) => write!(f, "answer too large: {error}"),
            Self::TooLate(error) => write!(f, "answer too late: {error}"),
            Self::Rejected(error) => write!(f, "answer rejected: {error}"),
        }
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
struct Reported {
    error_type: Option<String>,
    error_message: Option<String>,
}

/// Error bodies are a line of JSON. What is longer is cut, and then is none.
const BODY_LIMIT: u64 = 64 << 10;
