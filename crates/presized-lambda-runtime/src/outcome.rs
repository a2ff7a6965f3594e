//! The outcome of a response or an error that was posted.

use std::fmt;

use http::StatusCode;

use super::{ApiError, Error};

/// Tells whether the Runtime API accepted a response or an error that was posted.
///
/// After each of them the function asks for the next invocation, and does not post to this one
/// again. The statuses are those of the
/// [Runtime API](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html#runtimes-api-response).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the response may have been refused"]
#[non_exhaustive]
pub enum Outcome {
    /// The Runtime API accepted the response.
    Accepted,
    /// The response exceeds the
    /// [limit](https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html) of Lambda
    /// (413).
    ///
    /// Lambda has told the caller, so no error needs to be posted. This crate checks no length
    /// before it sends a response.
    TooLarge(ApiError),
    /// The invocation timed out, or its request id belongs to another invocation now (410).
    TooLate(ApiError),
    /// The Runtime API knows no such invocation, or has a response to it already (400, 403, and
    /// other 4xx).
    ///
    /// A response is sent again after its connection broke. The first attempt may then be the
    /// reason for this outcome.
    Rejected(ApiError),
}

impl Outcome {
    /// Returns `true` if the Runtime API accepted the response.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted)
    }

    /// Returns the error of a response that was not accepted.
    pub fn as_api_error(&self) -> Option<&ApiError> {
        match self {
            Self::Accepted => None,
            Self::TooLarge(error) | Self::TooLate(error) | Self::Rejected(error) => Some(error),
        }
    }

    /// Returns the outcome that a refusal stands for.
    ///
    /// # Errors
    ///
    /// Returns the refusal if it is not about the response.
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

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted => f.write_str("response accepted"),
            Self::TooLarge(error) => write!(f, "response too large: {error}"),
            Self::TooLate(error) => write!(f, "response too late: {error}"),
            Self::Rejected(error) => write!(f, "response rejected: {error}"),
        }
    }
}
