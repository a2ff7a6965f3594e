//! The response of a function.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http::Response;
use tracing::Span;

use super::failure_log::FailureLog;
use super::panics::catch;
use super::{ErrorReport, HttpPrelude};

/// The response of a function: bytes, or a stream of bytes.
///
/// The bytes of a response need not be JSON. They are sent without a copy in user space.
///
/// # Examples
///
/// ```
/// use presized_lambda_runtime::FunctionResponse;
///
/// let json = FunctionResponse::json(r#"{"ok":true}"#);
/// let binary = FunctionResponse::from(vec![0xff; 1024]);
/// ```
pub struct FunctionResponse(pub(super) Payload);

pub(super) enum Payload {
    Bytes(Bytes),
    Json(Bytes),
    Stream(Chunks),
    Http(HttpPrelude, Chunks),
}

impl FunctionResponse {
    /// Creates a response of bytes that are JSON. Its content type is `application/json`.
    ///
    /// The content type of all other responses is `application/octet-stream`.
    pub fn json(json: impl Into<Bytes>) -> Self {
        Self(Payload::Json(json.into()))
    }

    /// Creates a response that is sent while it is produced.
    ///
    /// An error or a panic of the stream ends the response, and Lambda tells the caller.
    pub fn stream<S, C, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<C, E>> + Send + 'static,
        C: Into<Bytes>,
        E: Into<ErrorReport>,
    {
        Self(Payload::Stream(Chunks::new(stream)))
    }

    /// Creates a streamed HTTP response, for a function URL or another caller that reads the HTTP
    /// integration response.
    ///
    /// The invocation fails if the value of a header is not UTF-8.
    pub fn http<S, C, E>(response: Response<S>) -> Self
    where
        S: Stream<Item = Result<C, E>> + Send + 'static,
        C: Into<Bytes>,
        E: Into<ErrorReport>,
    {
        let (head, body) = response.into_parts();
        Self(Payload::Http(head.into(), Chunks::new(body)))
    }
}

impl From<Bytes> for FunctionResponse {
    fn from(bytes: Bytes) -> Self {
        Self(Payload::Bytes(bytes))
    }
}

impl From<Vec<u8>> for FunctionResponse {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<String> for FunctionResponse {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl From<&'static [u8]> for FunctionResponse {
    fn from(bytes: &'static [u8]) -> Self {
        Bytes::from_static(bytes).into()
    }
}

impl From<&'static str> for FunctionResponse {
    fn from(text: &'static str) -> Self {
        text.as_bytes().into()
    }
}

impl fmt::Debug for FunctionResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Payload::Bytes(bytes) | Payload::Json(bytes) => {
                write!(f, "FunctionResponse({} bytes)", bytes.len())
            }
            Payload::Stream(_) => f.write_str("FunctionResponse(stream)"),
            Payload::Http(prelude, _) => write!(f, "FunctionResponse(stream, {})", prelude.status),
        }
    }
}

/// A stream of any type. It records its length in a span when it is dropped.
pub(super) struct Chunks {
    stream: Pin<Box<dyn PollChunk + Send>>,
    sent: u64,
    /// The span that records the length and the type of an error, and the log of errors.
    record: Option<(Span, FailureLog)>,
}

impl Chunks {
    fn new<S, C, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<C, E>> + Send + 'static,
        C: Into<Bytes>,
        E: Into<ErrorReport>,
    {
        Self { stream: Box::pin(stream), sent: 0, record: None }
    }

    /// Sets the span that records the length, and the log of a failure.
    pub(super) fn recorded_in(mut self, span: &Span, log: FailureLog) -> Self {
        self.record = Some((span.clone(), log));
        self
    }
}

impl Stream for Chunks {
    type Item = Result<Bytes, ErrorReport>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = catch(|| self.stream.as_mut().poll_chunk(cx));
        let chunk = match polled {
            Ok(polled) => ready!(polled),
            Err(panic) => Some(Err(panic)),
        };
        match &chunk {
            Some(Ok(chunk)) => self.sent += chunk.len() as u64,
            Some(Err(report)) => {
                if let Some((span, log)) = &self.record {
                    span.record("error_type", &report.error_type);
                    span.in_scope(|| log.record(report, "stream failed"));
                }
            }
            None => {}
        }
        Poll::Ready(chunk)
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        if let Some((span, _)) = &self.record {
            span.record("response_bytes", self.sent);
        }
    }
}

/// A stream whose types of chunk and error are erased.
trait PollChunk {
    fn poll_chunk(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, ErrorReport>>>;
}

impl<S, C, E> PollChunk for S
where
    S: Stream<Item = Result<C, E>>,
    C: Into<Bytes>,
    E: Into<ErrorReport>,
{
    fn poll_chunk(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, ErrorReport>>> {
        let convert = |chunk: Result<C, E>| chunk.map(Into::into).map_err(Into::into);
        self.poll_next(cx).map(|chunk| chunk.map(convert))
    }
}
