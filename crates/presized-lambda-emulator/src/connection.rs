//! The stream of one connection of a server.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf, Take};
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// A TCP stream that returns at most [`READ_AT_ONCE`] bytes for each read, and that a fault can end.
///
/// hyper doubles its read buffer up to the longest head that it accepts when a read fills it. With
/// this stream, only a long head makes the buffer long, and not a long body.
pub(crate) struct Connection {
    stream: Take<TcpStream>,
    end: Arc<ConnectionEnd>,
    /// The task that waits for bytes.
    reader: Option<Waker>,
}

/// The end of a connection that a fault has ordered.
#[derive(Default)]
pub(crate) struct ConnectionEnd {
    closes: AtomicBool,
    resets: AtomicBool,
    flushed: Notify,
}

impl ConnectionEnd {
    /// Ends the connection after the current response.
    pub(crate) fn close(&self) {
        self.closes.store(true, Relaxed);
    }

    /// Makes the end of the connection a reset.
    pub(crate) fn reset(&self) {
        self.resets.store(true, Relaxed);
    }

    /// Waits until everything that was written has been sent to the socket.
    pub(crate) async fn flushed(&self) {
        self.flushed.notified().await;
    }
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, end: Arc<ConnectionEnd>) -> Self {
        Self { stream: stream.take(READ_AT_ONCE), end, reader: None }
    }

    fn writer(&mut self) -> Pin<&mut TcpStream> {
        Pin::new(self.stream.get_mut())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.end.resets.load(Relaxed) {
            // A reset is all that the close of a socket without linger sends.
            let _ = SockRef::from(self.stream.get_ref()).set_linger(Some(Duration::ZERO));
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.end.closes.load(Relaxed) {
            // The end of the stream, after which the server closes the connection.
            return Poll::Ready(Ok(()));
        }
        self.stream.set_limit(READ_AT_ONCE);
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if read.is_pending() && !self.reader.as_ref().is_some_and(|it| it.will_wake(cx.waker())) {
            self.reader = Some(cx.waker().clone());
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.writer().poll_write(cx, data)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.writer().poll_write_vectored(cx, data)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.get_ref().is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.writer().poll_flush(cx))?;
        self.end.flushed.notify_waiters();
        if self.end.closes.load(Relaxed) {
            // The response is sent, and the reader has waited since before it.
            self.reader.take().into_iter().for_each(Waker::wake);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_shutdown(cx)
    }
}

/// One byte less than 64 KiB, so that hyper's buffer stays at 64 KiB.
const READ_AT_ONCE: u64 = (64 << 10) - 1;
