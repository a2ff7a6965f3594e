//! A stream that reports the error of a write only after everything that the server sent is read.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::time::{Instant, Sleep, sleep};

/// A connection whose failed write does not hide the response.
///
/// A server can refuse a request before it has read the payload, and close the connection. The next
/// write of the client fails then, but the response is in the receive buffer. hyper ends the
/// connection with the first error, so this stream holds the error of a write back. RFC 9112,
/// section 9.5: a client that sends a body should monitor the connection for an error response.
///
/// The error is reported as soon as the read side ends or fails, or after [`HOLD`] without a byte.
/// Until then, writes of HTTP/1.1 pend: if they seemed to succeed, the connection could be used
/// again. Writes of HTTP/2 are discarded: it has to write before it reads, for example the
/// acknowledgement of settings.
///
/// One task must drive both sides, as hyper does.
#[derive(Debug)]
pub(super) struct DeferredWriteError<S> {
    pub(super) stream: S,
    is_http2: bool,
    /// An error before that is reported at once, because there can be no response.
    has_written: bool,
    failure: Option<Failure>,
}

impl<S> DeferredWriteError<S> {
    pub(super) fn new(stream: S, is_http2: bool) -> Self {
        Self { stream, is_http2, has_written: false, failure: None }
    }

    /// Runs an operation of the write side, unless an earlier one has failed. `discarded` is its
    /// result if it is discarded.
    fn write<T>(
        &mut self,
        cx: &mut Context<'_>,
        discarded: T,
        operation: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>>
    where
        S: Unpin,
    {
        let failure = match &mut self.failure {
            Some(failure) => failure,
            None => match operation(Pin::new(&mut self.stream), cx) {
                Poll::Ready(Err(error)) if self.has_written => {
                    // hyper has read before it wrote, and reads once more.
                    cx.waker().wake_by_ref();
                    self.failure.insert(Failure::new(error))
                }
                result => {
                    self.has_written |= matches!(result, Poll::Ready(Ok(_)));
                    return result;
                }
            },
        };
        match failure.poll(cx) {
            Poll::Ready(error) => Poll::Ready(Err(error)),
            Poll::Pending if self.is_http2 => Poll::Ready(Ok(discarded)),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: Read + Unpin> Read for DeferredWriteError<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, failure, .. } = self.get_mut();
        let Some(failure) = failure else { return Pin::new(stream).poll_read(cx, buf) };
        if failure.is_over {
            return Poll::Ready(Err(failure.report()));
        }
        let mut bytes = [0; CHUNK];
        let mut read = ReadBuf::new(&mut bytes[..buf.remaining().min(CHUNK)]);
        match Pin::new(stream).poll_read(cx, read.unfilled()) {
            // A response that ends with the connection may be incomplete.
            Poll::Ready(Ok(())) if read.filled().is_empty() => Poll::Ready(Err(failure.report())),
            Poll::Ready(Ok(())) => {
                failure.postpone();
                buf.put_slice(read.filled());
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => {
                failure.is_over = true;
                Poll::Ready(Err(error))
            }
            Poll::Pending => failure.poll(cx).map(Err),
        }
    }
}

impl<S: Write + Unpin> Write for DeferredWriteError<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().write(cx, buf.len(), |stream, cx| stream.poll_write(cx, buf))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().write(cx, (), S::poll_flush)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Nothing is read after it, so there is no response to wait for.
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let len = bufs.iter().map(|buf| buf.len()).sum();
        self.get_mut().write(cx, len, |stream, cx| stream.poll_write_vectored(cx, bufs))
    }
}

impl<S: Connection> Connection for DeferredWriteError<S> {
    fn connected(&self) -> Connected {
        self.stream.connected()
    }
}

/// A failed write.
#[derive(Debug)]
struct Failure {
    kind: io::ErrorKind,
    /// Taken by the first report.
    error: Option<io::Error>,
    /// True after the end of the read side: nothing more is read.
    is_over: bool,
    deadline: Pin<Box<Sleep>>,
}

impl Failure {
    fn new(error: io::Error) -> Self {
        let deadline = Box::pin(sleep(HOLD));
        Self { kind: error.kind(), error: Some(error), is_over: false, deadline }
    }

    /// Returns the error if it is no longer held back.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        if self.is_over || self.deadline.as_mut().poll(cx).is_ready() {
            Poll::Ready(self.report())
        } else {
            Poll::Pending
        }
    }

    fn report(&mut self) -> io::Error {
        self.is_over = true;
        self.error.take().unwrap_or_else(|| self.kind.into())
    }

    /// Waits for the next bytes as long as for these.
    fn postpone(&mut self) {
        self.deadline.as_mut().reset(Instant::now() + HOLD);
    }
}

/// The time that an error is held back after the last byte. It passes only if the caller does not
/// read, or if the server does not know of the error. After a reset by the server, the rest of the
/// response is in the receive buffer.
const HOLD: Duration = Duration::from_secs(5);

/// The bytes that are read at once after a failed write.
const CHUNK: usize = 8 << 10;

#[cfg(test)]
mod tests;
