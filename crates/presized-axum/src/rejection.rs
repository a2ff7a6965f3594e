//! The rejection of the extractors.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use axum_core::Error;
use axum_core::response::{IntoResponse, Response};
use http::StatusCode;
use http_body_util::LengthLimitError;
use presized::CollectError;
use serde_json::error::Category;

/// The reason for which an extractor rejects a request.
///
/// As a response it has the [`status`](Self::status) and, as plain text, the
/// [`body_text`](Self::body_text).
///
/// The rest of a rejected request is read and dropped in the background, even if the rejection is
/// turned into another response. The [crate documentation](crate) has the bounds.
///
/// # Examples
///
/// A handler that takes the `Result` makes a response of its own:
///
/// ```
/// use axum::http::StatusCode;
/// use presized_axum::{PresizedBytes, PresizedRejection};
///
/// async fn upload(body: Result<PresizedBytes, PresizedRejection>) -> (StatusCode, String) {
///     match body {
///         Ok(PresizedBytes(content)) => (StatusCode::OK, format!("{} bytes", content.len())),
///         Err(rejection) => (rejection.status(), format!("rejected: {rejection}")),
///     }
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum PresizedRejection {
    /// The body could not be read, or is not what the extractor asks for.
    Body(CollectError<Error>),
    /// The request has no `Content-Type: application/json`, and no other JSON type.
    MissingJsonContentType,
}

impl PresizedRejection {
    /// Returns the status of the response.
    ///
    /// - 413 Content Too Large: the body is over the limit of the reader, or of a layer.
    /// - 408 Request Timeout: the body is slower than the [`MinRate`](presized::MinRate) of the
    ///   reader.
    /// - 503 Service Unavailable: there is no memory for the body now.
    /// - 415 Unsupported Media Type: the request does not declare JSON.
    /// - 422 Unprocessable Content: the content is JSON of another type than the requested one.
    /// - 400 Bad Request: everything else.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::MissingJsonContentType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Body(error) if is_data_error(error) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Body(error) if is_over_limit_of_layer(error) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Body(error) => error.status(),
        }
    }

    /// Returns the text of the response.
    ///
    /// It has the limit and the length of a body that is too large, and the position of an error in
    /// JSON. It tells nothing about the memory of the server, and quotes no content.
    pub fn body_text(&self) -> String {
        match self {
            Self::Body(_) if self.status() == StatusCode::SERVICE_UNAVAILABLE => {
                "no memory for the request body at the moment, try again later".to_owned()
            }
            Self::Body(CollectError::InvalidJson { source, .. }) => format!("{self}: {source}"),
            _ => self.to_string(),
        }
    }
}

/// Returns whether the content is JSON, but not of the requested type.
fn is_data_error(error: &CollectError<Error>) -> bool {
    let CollectError::InvalidJson { source, .. } = error else { return false };
    let source = source.get_ref().downcast_ref::<serde_json::Error>();
    source.is_some_and(|source| source.classify() == Category::Data)
}

/// Returns whether a layer of tower-http refused the body.
fn is_over_limit_of_layer(error: &CollectError<Error>) -> bool {
    let mut next = error.source();
    while let Some(error) = next {
        if error.is::<LengthLimitError>() {
            return true;
        }
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            // The source of an `io::Error` is that of the error inside of it.
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    false
}

impl fmt::Display for PresizedRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body(error) => error.fmt(f),
            Self::MissingJsonContentType => {
                f.write_str("request has no Content-Type of JSON, such as application/json")
            }
        }
    }
}

impl StdError for PresizedRejection {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Body(error) => error.source(),
            Self::MissingJsonContentType => None,
        }
    }
}

impl IntoResponse for PresizedRejection {
    fn into_response(self) -> Response {
        (self.status(), self.body_text()).into_response()
    }
}
