//! The errors of an operation.

use std::error::Error;
use std::{fmt, io};

use bytes::Bytes;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body::Body;
use presized::{Collect, CollectError};

/// The error of a transport or of a body, of any type.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The error of an operation. `E` is the error that the service of the operation returns.
#[derive(Debug)]
#[non_exhaustive]
pub enum SdkError<E> {
    /// The input does not make a valid request. Nothing was sent.
    Build(BuildError),
    /// The transport failed before the head of a response arrived.
    Send(BoxError),
    /// The service succeeded, but the payload is over the limit, incomplete, or not text.
    Payload(CollectError<io::Error>),
    /// The payload is complete, but does not match the model.
    Deserialize(BoxError),
    /// The service returned an error.
    Service(E),
}

impl<E> SdkError<E> {
    /// Wraps the error of a payload.
    ///
    /// `BoxError` is not an `Error`, and `io::Error` is one and holds any error.
    pub fn payload<B: Into<BoxError>>(error: CollectError<B>) -> Self {
        Self::Payload(error.map_body(io::Error::other))
    }
}

impl<E> fmt::Display for SdkError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Build(_) => "the input does not make a valid request",
            Self::Send(_) => "the transport failed before a response arrived",
            Self::Payload(_) => "the payload cannot be read",
            Self::Deserialize(_) => "the payload does not match the model",
            Self::Service(_) => "the service returned an error",
        })
    }
}

impl<E: Error + 'static> Error for SdkError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Build(error) => Some(error),
            Self::Send(error) | Self::Deserialize(error) => Some(&**error),
            Self::Payload(error) => Some(error),
            Self::Service(error) => Some(error),
        }
    }
}

/// The error of an input that does not make a valid request.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// A required member cannot be a segment of a path.
    Label { member: &'static str, value: String },
    /// The target or a header field is not valid in HTTP.
    Request(http::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label { member, value } => {
                write!(f, "{member} is {value:?}, which cannot be a segment of a path")
            }
            Self::Request(_) => f.write_str("the target or a header field is not valid"),
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Label { .. } => None,
            Self::Request(error) => Some(error),
        }
    }
}

/// A response without a success status, with the beginning of its content.
#[derive(Debug)]
pub struct ErrorResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The first [`Self::LIMIT`] bytes, or the bytes that had arrived when the body failed.
    pub content: Bytes,
}

impl ErrorResponse {
    /// The most bytes of content that are kept.
    pub const LIMIT: u64 = 64 << 10;

    /// Reads the beginning of an error response. Never fails, so that a broken body cannot hide the
    /// status.
    pub async fn read<B: Body>(response: Response<B>) -> Self {
        let (head, body) = response.into_parts();
        let read = Collect::of_response(&Method::GET, &head, body, Self::LIMIT).prefix().await;
        let content = read.map_or_else(CollectError::into_partial, |prefix| prefix.content);
        Self { status: head.status, headers: head.headers, content }
    }
}

/// The members that every error of a service has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorMetadata {
    pub status: StatusCode,
    /// The name of the error in the model, without namespace and URI.
    pub code: Option<String>,
    pub message: Option<String>,
}

impl fmt::Display for ErrorMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}", self.status)?;
        if let Some(code) = &self.code {
            write!(f, ", {code}")?;
        }
        if let Some(message) = &self.message {
            write!(f, ": {message}")?;
        }
        Ok(())
    }
}
