//! The streamed response of a function.
//!
//! `stream/chunks.rs` has the loop, and `stream/collect.rs` reads a stream into one buffer.

mod chunks;
mod collect;
mod content_type_error;
mod event;
mod idle;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use http::header::CONTENT_TYPE;
use http::{StatusCode, response};
use hyper::body::Incoming;
use presized::Reader;

use self::chunks::{Chunks, Head};
use super::call::{Bound, Call, CallResponse};
use super::invocation::executed_version;
use super::recorder::Recorder;
use super::service_error::{request_id, text};
use super::wire::{EVENT_STREAM, Operation};
use super::{Error, Invocation};

/// The response of a function as a stream of its bytes.
///
/// The boundaries of the chunks have no meaning, and no chunk is empty. A chunk has at most
/// 24 MiB, which is the longest payload of a frame. Its checksum is verified before the stream
/// yields it. Drop or copy a chunk soon: it can be a slice of the connection's read buffer.
///
/// # Errors
///
/// The stream yields an error last, after the chunks that arrived before it. The status of the
/// response is 200 even then, so the response is complete only if the stream ends without an
/// error. In each case the function [may have run](Error::may_have_run).
///
/// - [`Function`](super::ErrorKind::Function): the function failed after its response had begun.
/// - [`Service`](super::ErrorKind::Service): Lambda failed. Its status is 200, the status of the response.
/// - [`Broken`](super::ErrorKind::Broken): the connection failed, the stream ended without the
///   event that tells how the function ended, or a frame is invalid.
/// - [`Timeout`](super::ErrorKind::Timeout): the deadline of the call passed, which bounds the whole
///   stream, or no byte arrived within the
///   [idle timeout](super::ClientBuilder::stream_idle_timeout).
/// - [`Memory`](super::ErrorKind::Memory): there is no memory for a chunk.
///
/// # Cancel safety
///
/// No data is lost between two polls. Dropping the stream before its end closes the connection
/// (HTTP/1.1) or resets the stream (HTTP/2).
///
/// # Examples
///
/// ```
/// # use bytes::Bytes;
/// # use presized_lambda_emulator::{Emulator, Function};
/// # use presized_lambda_runtime::{Context, ErrorReport, streaming};
/// # type Chunks = futures_util::stream::Iter<std::vec::IntoIter<Result<Bytes, ErrorReport>>>;
/// # async fn report(_event: Bytes, _context: Context) -> Result<Chunks, ErrorReport> {
/// #     let chunks = vec![Ok(Bytes::from("one")), Ok(Bytes::from("two"))];
/// #     Ok(futures_util::stream::iter(chunks))
/// # }
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let emulator = Emulator::builder().function("report", Function::new()).start().await?;
/// # emulator.attach("report", streaming(report))?;
/// # let client = emulator.client_builder().build()?;
/// use futures_util::StreamExt;
///
/// let mut stream = client.invoke_streaming("report").send().await?;
/// let mut received = 0;
/// while let Some(chunk) = stream.next().await {
///     received += chunk?.len();
/// }
/// # assert_eq!(received, 6);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is read unless the stream is polled"]
pub struct ResponseStream {
    chunks: Chunks<Incoming>,
    reader: Reader,
}

/// The end of a streamed response without an error.
///
/// `Debug` shows the length of the log tail and not its content.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The log tail: the last 4 KiB of the function's log, if
    /// [`tail_log`](super::Invoke::tail_log) asked for it. It may start within a UTF-8 character.
    pub log_tail: Option<Bytes>,
}

impl ResponseStream {
    /// Returns the status of the response.
    pub fn status(&self) -> StatusCode {
        self.chunks.head.status
    }

    /// Returns the request id.
    pub fn request_id(&self) -> Option<&str> {
        self.chunks.head.request_id.as_deref()
    }

    /// Returns the version of the function that runs.
    pub fn executed_version(&self) -> Option<&str> {
        self.chunks.head.executed_version.as_deref()
    }

    /// Returns the number of attempts.
    pub fn attempts(&self) -> u32 {
        self.chunks.head.attempts
    }

    /// Returns the completion. It is `None` until the stream has ended, and after an error.
    pub fn completion(&self) -> Option<&Completion> {
        self.chunks.completion.as_ref()
    }

    /// Reads the rest of the stream into one buffer of at most `limit` bytes, inclusive.
    ///
    /// The buffer uses the pool and the budget of the client. One frame of at most 24 MiB is in
    /// memory besides, which neither counts. The deadline of the call bounds this too, with the wait
    /// for the budget. The [idle timeout](super::ClientBuilder::stream_idle_timeout) does not count
    /// the wait for the budget.
    ///
    /// # Errors
    ///
    /// Returns the error of the stream, [`TooLarge`](super::ErrorKind::TooLarge) over the limit, or
    /// [`Memory`](super::ErrorKind::Memory) if the limit does not fit into the budget. Returns
    /// [`BudgetFull`](super::ErrorKind::BudgetFull) if the budget had no room until the deadline.
    /// [`Error::into_partial`] returns the bytes that had arrived.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the stream and frees its memory.
    pub async fn collect(self, limit: u64) -> Result<Invocation, Error> {
        collect::collect(self.chunks, self.reader.limit(limit)).await
    }
}

impl CallResponse for ResponseStream {
    const OPERATION: Operation = Operation::InvokeWithResponseStream;

    // A stream needs no memory of the budget, and `collect` comes later.
    async fn wait_for_room(_call: &Call, _recorder: &Recorder) -> Result<(), Error> {
        Ok(())
    }

    async fn read(
        call: &Call,
        head: response::Parts,
        body: Incoming,
        _bound: Bound,
        recorder: &Recorder,
    ) -> Result<Self, Error> {
        let head = Head {
            status: head.status,
            request_id: request_id(&head.headers),
            executed_version: executed_version(&head.headers),
            attempts: recorder.attempts(),
            other_type: text(&head.headers, &CONTENT_TYPE)
                .filter(|found| !found.starts_with(EVENT_STREAM)),
        };
        let reader = call.options.reader.clone();
        Ok(Self {
            chunks: Chunks::new(head, body, call.deadline, call.options.stream_idle_timeout),
            reader,
        })
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
