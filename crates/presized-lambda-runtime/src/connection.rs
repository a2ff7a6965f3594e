//! An HTTP/1.1 connection that carries one exchange at a time.
//!
//! No task drives the connection. The future that waits for a response does, and closes the
//! connection when it is dropped. With the pool of hyper-util each request, each response and each
//! frame of an event moves from one thread to another under `#[tokio::main]`. An invocation takes
//! half of that CPU time here.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use presized::HTTP1_MAX_BUF_SIZE;
use tokio::net::TcpStream;

/// A request body: bytes in memory, or a stream.
pub(super) type Outgoing = Either<Full<Bytes>, UnsyncBoxBody<Bytes, Infallible>>;

/// A connection without an exchange.
#[derive(Debug)]
pub(super) struct Connection<I = TokioIo<TcpStream>>
where
    I: Read + Write + Unpin,
{
    sender: SendRequest<Outgoing>,
    driver: Driver<I>,
}

impl<I: Read + Write + Unpin> Connection<I> {
    pub(super) async fn new(io: I) -> hyper::Result<Self> {
        let mut builder = http1::Builder::new();
        builder.max_buf_size(HTTP1_MAX_BUF_SIZE);
        let (sender, driver) = builder.handshake(io).await?;
        Ok(Self { sender, driver: Driver(Some(Box::new(driver))) })
    }

    /// Sends a request and waits for the head of the response.
    ///
    /// The error contains the request if nothing of it was written.
    pub(super) async fn send(
        mut self,
        request: Request<Outgoing>,
    ) -> Result<(response::Parts, Exchange<I>), TrySendError<Request<Outgoing>>> {
        let mut response = pin!(self.sender.try_send_request(request));
        let response = poll_fn(|cx| {
            self.driver.drive(cx);
            response.as_mut().poll(cx)
        })
        .await?;
        let (head, body) = response.into_parts();
        Ok((head, Exchange { body, connection: self }))
    }

    /// Waits until the last exchange is complete. Returns `false` if the connection has ended.
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        self.driver.drive(cx);
        self.sender.poll_ready(cx).map(|ready| ready.is_ok() && self.driver.0.is_some())
    }
}

/// The body of a response and its connection.
#[derive(Debug)]
pub(super) struct Exchange<I = TokioIo<TcpStream>>
where
    I: Read + Write + Unpin,
{
    body: Incoming,
    connection: Connection<I>,
}

impl<I: Read + Write + Unpin> Exchange<I> {
    /// Waits until the whole request is sent, after the whole response was read.
    pub(super) async fn sent(&mut self) {
        poll_fn(|cx| self.connection.poll_ready(cx)).await;
    }

    /// Returns the connection. It cannot be used again unless the whole response was read.
    pub(super) fn into_connection(self) -> Connection<I> {
        self.connection
    }
}

impl<I: Read + Write + Unpin> Body for Exchange<I> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let mut polled = Pin::new(&mut self.body).poll_frame(cx);
        if polled.is_pending() {
            // hyper reads only after the body was polled, and then has the frame at once.
            self.connection.driver.drive(cx);
            polled = Pin::new(&mut self.body).poll_frame(cx);
        }
        polled.map_err(io::Error::other)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The state machine of a connection, until the connection has ended.
///
/// It is boxed because it has a kilobyte, and an invocation moves its connection ten times. The
/// moves took an eighth of all instructions.
#[derive(Debug)]
struct Driver<I: Read + Write + Unpin>(Option<Box<http1::Connection<I, Outgoing>>>);

impl<I: Read + Write + Unpin> Driver<I> {
    /// Reads and writes without waiting. The exchange receives the error, if there is one.
    fn drive(&mut self, cx: &mut Context<'_>) {
        if let Some(connection) = &mut self.0 {
            if Pin::new(&mut **connection).poll(cx).is_ready() {
                self.0 = None;
            }
        }
    }
}

#[cfg(test)]
mod tests;
