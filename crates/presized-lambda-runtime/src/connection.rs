//! One connection, and one exchange on it after the other.
//!
//! There is no task behind it: whoever waits for a response does the work of the connection, and
//! dropping that closes it. Under `#[tokio::main]`, whose own future runs on no worker, an
//! invocation takes half of the CPU time that it takes with the pool of hyper-util, where each
//! request, each response and each frame of an event goes from one thread to another.

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
use tokio::net::TcpStream;

use super::wire::HTTP1_BUFFER;

/// What is sent: an answer as it is in memory, or one that is yet to come.
pub(super) type Outgoing = Either<Full<Bytes>, UnsyncBoxBody<Bytes, Infallible>>;

/// A connection that has no exchange on it.
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
        let mut settings = http1::Builder::new();
        settings.max_buf_size(HTTP1_BUFFER);
        let (sender, driver) = settings.handshake(io).await?;
        Ok(Self { sender, driver: Driver(Some(Box::new(driver))) })
    }

    /// Sends a request, and waits for the head of the response.
    ///
    /// The error has the request in it where nothing of it was written.
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

    /// Whether it takes a request: true when nothing is left of the last one, false when it has
    /// ended.
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        self.driver.drive(cx);
        self.sender.poll_ready(cx).map(|ready| ready.is_ok() && self.driver.0.is_some())
    }
}

/// The body of a response, and the connection it comes over.
#[derive(Debug)]
pub(super) struct Exchange<I = TokioIo<TcpStream>>
where
    I: Read + Write + Unpin,
{
    body: Incoming,
    connection: Connection<I>,
}

impl<I: Read + Write + Unpin> Exchange<I> {
    /// Waits until the request is sent to its end, where the response was read to its end before.
    pub(super) async fn sent(&mut self) {
        poll_fn(|cx| self.connection.poll_ready(cx)).await;
    }

    /// The connection, which is of no more use where the response was not read to its end.
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
            // Asking is what makes the connection read: it gives what it has right away.
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

/// What does the work of a connection, until it has ended.
///
/// In a box, since it takes a kilobyte and a connection is handed on ten times in an invocation:
/// that was an eighth of all its instructions.
#[derive(Debug)]
struct Driver<I: Read + Write + Unpin>(Option<Box<http1::Connection<I, Outgoing>>>);

impl<I: Read + Write + Unpin> Driver<I> {
    /// Does what can be done at the moment. An error reaches the exchange.
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
