//! A streamed answer: what callers see of it.
//!
//! The loop is in `stream/chunks.rs`, and what is read into one buffer in `stream/collect.rs`.

mod chunks;
mod collect;
mod event;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use http::{StatusCode, response};
use hyper::body::Incoming;

use self::chunks::{Chunks, Head};
use super::call::{Answer, Call};
use super::invocation::executed_version;
use super::observe::Recorder;
use super::service_error::request_id;
use super::wire::Operation;
use super::{Error, Invocation};
use presized::Reader;

/// The answer of a function, as it comes.
///
/// A [`Stream`] of the bytes that the function writes. How they are cut into chunks says
/// nothing; no chunk is empty. A chunk is at most 24 MiB, since that is the most a frame of this
/// protocol carries, and it is checked against its checksum before it is given out. Drop a chunk,
/// or copy it, as soon as possible: it can be a slice of the read buffer of the connection.
///
/// # Errors
///
/// An error is the last thing that the stream yields. Where the function fails, or the connection
/// breaks, the chunks before that have been given out. The status of the response is 200 even
/// then, so an answer is whole only once the stream has ended without an error:
///
/// - [`Function`](super::ErrorKind::Function): the function failed while it was streaming.
/// - [`Service`](super::ErrorKind::Service): Lambda failed, with the status of the response.
/// - [`Broken`](super::ErrorKind::Broken): the connection failed, or the stream ended before the
///   event that says how the function ended, or it is not what the protocol allows.
/// - [`Timeout`](super::ErrorKind::Timeout): the deadline of the call passed. It bounds the whole
///   stream.
/// - [`Memory`](super::ErrorKind::Memory): there is no memory for a chunk.
///
/// All of them [may have run](Error::may_have_run) the function.
///
/// # Cancel safety
///
/// Nothing is lost between two polls. It can be dropped at any time; that closes the connection,
/// or resets the stream on HTTP/2, unless the answer was read to its end.
///
/// # Examples
///
/// ```no_run
/// # async fn example(client: presized_lambda_invoke::Client) -> Result<(), Box<dyn std::error::Error>> {
/// use futures_util::StreamExt;
///
/// let mut stream = client.invoke_streaming("my-function").send().await?;
/// while let Some(chunk) = stream.next().await {
///     println!("{} bytes", chunk?.len());
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is read unless the stream is polled"]
pub struct ResponseStream {
    chunks: Chunks<Incoming>,
    reader: Reader,
}

/// How a function ended that streamed its answer.
///
/// `Debug` shows how many bytes of log there are and never the bytes.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The end of the log, at most 4 KiB, where it was asked for. It can begin inside a
    /// character.
    pub log_tail: Option<Bytes>,
}

impl ResponseStream {
    /// Status of the response.
    pub fn status(&self) -> StatusCode {
        self.chunks.head.status
    }

    /// What Lambda calls the request.
    pub fn request_id(&self) -> Option<&str> {
        self.chunks.head.request_id.as_deref()
    }

    /// The version of the function that was executed.
    pub fn executed_version(&self) -> Option<&str> {
        self.chunks.head.executed_version.as_deref()
    }

    /// Number of times that the call was attempted.
    pub fn attempts(&self) -> u32 {
        self.chunks.head.attempts
    }

    /// How the function ended. `None` until the stream has ended, and after an error.
    pub fn completion(&self) -> Option<&Completion> {
        self.chunks.completion.as_ref()
    }

    /// Reads all that is left of the stream into one buffer, and at most `limit` bytes of it,
    /// inclusive.
    ///
    /// Its memory is that of the client's pool and budget. On top comes one frame of the
    /// protocol, which is at most 24 MiB.
    ///
    /// # Errors
    ///
    /// Those of the stream; and [`TooLarge`](super::ErrorKind::TooLarge), and
    /// [`Memory`](super::ErrorKind::Memory) where the budget has no room.
    /// [`Error::into_partial`] gives what had arrived.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the stream and frees what was reserved.
    pub async fn collect(self, limit: u64) -> Result<Invocation, Error> {
        collect::collect(self.chunks, self.reader.limit(limit)).await
    }
}

impl Answer for ResponseStream {
    const OPERATION: Operation = Operation::InvokeWithResponseStream;

    async fn read(
        call: &Call,
        head: response::Parts,
        body: Incoming,
        attempts: u32,
    ) -> Result<Self, Error> {
        let head = Head {
            status: head.status,
            request_id: request_id(&head.headers),
            executed_version: executed_version(&head.headers),
            attempts,
        };
        let reader = call.options.reader.clone();
        Ok(Self { chunks: Chunks::new(head, body, call.deadline), reader })
    }

    fn recorded_by(self, recorder: Recorder) -> Self {
        Self { chunks: self.chunks.recorded_by(recorder), ..self }
    }
}

impl Stream for ResponseStream {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.chunks).poll_next(cx)
    }
}

impl fmt::Debug for ResponseStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseStream")
            .field("head", &self.chunks.head)
            .field("completion", &self.chunks.completion)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let log_tail = self.log_tail.as_ref().map(Bytes::len);
        f.debug_struct("Completion")
            .field("log_tail", &log_tail.map(|len| format!("{len} bytes")))
            .finish()
    }
}

#[cfg(test)]
mod tests;
