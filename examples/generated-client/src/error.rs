//! Why an operation has no output.

use std::error::Error;
use std::{fmt, io};

use bytes::Bytes;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body::Body;
use presized::{Collect, CollectError};

/// The error of a transport or of a body, whatever it is.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Why an operation has no output. `E` is what the operation's service says.
#[derive(Debug)]
#[non_exhaustive]
pub enum SdkError<E> {
    /// The input makes no request. Nothing was sent.
    Build(BuildError),
    /// There is no response.
    Send(BoxError),
    /// The service has done it, and its payload is over the limit, not whole, or not text.
    Payload(CollectError<io::Error>),
    /// The payload is whole, and not of the shape that the operation answers with.
    Deserialize(BoxError),
    /// The service refuses, or has failed.
    Service(E),
}

impl<E> SdkError<E> {
    /// For whatever error a body has: a boxed one is no `Error`, and `io::Error` holds any.
    pub fn payload<B: Into<BoxError>>(error: CollectError<B>) -> Self {
        Self::Payload(error.map_body(io::Error::other))
    }
}

impl<E> fmt::Display for SdkError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Build(_) => "the input makes no request",
            Self::Send(_) => "no response",
            Self::Payload(_) => "the payload cannot be read",
            Self::Deserialize(_) => "the payload has another shape",
            Self::Service(_) => "service error",
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

/// Why an input makes no request.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// A required member is what no segment of a path can be.
    Label { member: &'static str, value: String },
    /// The target, or a header, is none that HTTP has.
    Request(http::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label { member, value } => write!(f, "{member} is {value:?}"),
            Self::Request(error) => error.fmt(f),
        }
    }
}

impl Error for BuildError {}

/// An answer whose status is no success, read as far as it goes.
#[derive(Debug)]
pub struct ErrorResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The first [`Self::LIMIT`] bytes, or those that had come before the body failed.
    pub content: Bytes,
}

impl ErrorResponse {
    /// Most bytes of such an answer.
    pub const LIMIT: u64 = 64 << 10;

    /// It cannot fail: the status says already that there is no output.
    pub async fn read<B: Body>(response: Response<B>) -> Self {
        let (head, body) = response.into_parts();
        let read = Collect::of_response(&Method::GET, &head, body, Self::LIMIT).prefix().await;
        let content = read.map_or_else(CollectError::into_partial, |prefix| prefix.content);
        Self { status: head.status, headers: head.headers, content }
    }
}

/// What every error of a service has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorMetadata {
    pub status: StatusCode,
    /// The name of the error's shape, without namespace and URI.
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
