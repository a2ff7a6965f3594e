//! What a function answers with.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http::Response;
use tracing::Span;

use super::{ErrorReport, HttpPrelude};

/// What a function answers an invocation with: bytes, or a stream of them.
///
/// Bytes are whatever the caller of the function is to get; they need not be JSON. They go to
/// the socket from where they are.
///
/// # Examples
///
/// ```
/// use presized_lambda_runtime::Answer;
///
/// let json = Answer::from(r#"{"ok":true}"#);
/// let binary = Answer::from(vec![0xff; 1024]);
/// ```
pub struct Answer(pub(super) Kind);

pub(super) enum Kind {
    Bytes(Bytes),
    Stream(Chunks),
    Http(HttpPrelude, Chunks),
}

impl Answer {
    /// An answer that is sent while it is made.
    ///
    /// An error in the stream, or a panic, ends the answer, and its caller is told of it.
    pub fn stream<S, C, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<C, E>> + Send + 'static,
        C: Into<Bytes>,
        E: Into<ErrorReport>,
    {
        Self(Kind::Stream(Chunks::new(stream)))
    }

    /// The same in the form of HTTP, for a function URL or another caller that makes an HTTP
    /// response of it. Header values have to be UTF-8, or the invocation fails.
    pub fn http<S, C, E>(response: Response<S>) -> Self
    where
        S: Stream<Item = Result<C, E>> + Send + 'static,
        C: Into<Bytes>,
        E: Into<ErrorReport>,
    {
        let (head, body) = response.into_parts();
        Self(Kind::Http(head.into(), Chunks::new(body)))
    }
}

impl From<Bytes> for Answer {
    fn from(bytes: Bytes) -> Self {
        Self(Kind::Bytes(bytes))
    }
}

impl From<Vec<u8>> for Answer {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl From<&'static [u8]> for Answer {
    fn from(bytes: &'static [u8]) -> Self {
        Bytes::from_static(bytes).into()
    }
}

impl From<&'static str> for Answer {
    fn from(text: &'static str) -> Self {
        text.as_bytes().into()
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Bytes(bytes) => write!(f, "Answer({} bytes)", bytes.len()),
            Kind::Stream(_) => f.write_str("Answer(stream)"),
            Kind::Http(prelude, _) => write!(f, "Answer(stream, {})", prelude.status),
        }
    }
}

/// A stream of any type, whose length goes into a span in the end.
pub(super) struct Chunks {
    stream: Pin<Box<dyn PollChunk + Send>>,
    sent: u64,
    span: Span,
}

impl Chunks {
    fn new<S, C, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<C, E>> + Send + 'static,
        C: Into<Bytes>,
        E: Into<ErrorReport>,
    {
        Self { stream: Box::pin(stream), sent: 0, span: Span::none() }
    }

    /// Tells `span` how many bytes there were.
    pub(super) fn recorded_by(mut self, span: &Span) -> Self {
        self.span = span.clone();
        self
    }
}

impl Stream for Chunks {
    type Item = Result<Bytes, ErrorReport>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let chunk = ready!(self.stream.as_mut().poll_chunk(cx));
        if let Some(Ok(chunk)) = &chunk {
            self.sent += chunk.len() as u64;
        }
        Poll::Ready(chunk)
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        self.span.record("answer_bytes", self.sent);
    }
}

/// A stream whose types of chunk and error are forgotten.
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
