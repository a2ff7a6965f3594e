//! The connections of a client, and one request on one of them.

use std::future::poll_fn;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use http::{Request, response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task;

use super::connection::{Connection, Exchange, Outgoing};
use super::error::{Error, ErrorKind};

/// Connections to one address: as many as were in use at the same time.
#[derive(Debug)]
pub(super) struct Transport {
    /// Host and port.
    address: String,
    idle: Mutex<Vec<Idle>>,
}

/// A connection that has no exchange on it.
#[derive(Debug)]
struct Idle {
    connection: Connection,
    since: Instant,
}

impl Transport {
    pub(super) fn new(address: String) -> Self {
        Self { address, idle: Mutex::default() }
    }

    /// Sends a request, and waits for the head of the response, for as long as it takes.
    ///
    /// A connection that turns out to be closed before anything was written is replaced.
    pub(super) async fn send(
        &self,
        mut request: Request<Outgoing>,
    ) -> Result<(response::Parts, Exchange), Error> {
        loop {
            let idle = self.take_idle().await;
            let was_idle = idle.is_some();
            let connection = match idle {
                Some(connection) => connection,
                None => {
                    self.connect().await.map_err(|error| Error::new(ErrorKind::Connect(error)))?
                }
            };
            match connection.send(request).await {
                Ok(response) => return Ok(response),
                Err(mut error) => match error.take_message() {
                    Some(unsent) if was_idle => request = unsent,
                    _ => {
                        // The others have been open for as long, if not longer.
                        self.forget_idle();
                        return Err(Error::new(ErrorKind::Broken(error.into_error().into())));
                    }
                },
            }
        }
    }

    /// Keeps the connection of an exchange for the next request, if it is ready for one: if the
    /// response was read to its end, and the request sent to its.
    pub(super) async fn release(&self, exchange: Exchange) {
        let mut connection = exchange.into_connection();
        if poll_fn(|cx| Poll::Ready(connection.poll_ready(cx))).await == Poll::Ready(true) {
            self.idle().push(Idle { connection, since: Instant::now() });
        }
    }

    /// Closes the connections that have no exchange on them.
    pub(super) fn forget_idle(&self) {
        let idle = std::mem::take(&mut *self.idle());
        drop(idle);
    }

    async fn take_idle(&self) -> Option<Connection> {
        let Idle { connection, since } = self.idle().pop()?;
        if since.elapsed() > MOMENT {
            // Lets the runtime hear that it was closed, while its thread was busy or the process
            // was frozen. Without that a current-thread runtime writes the request to a connection
            // that the kernel knows to be closed.
            task::yield_now().await;
        }
        Some(connection)
    }

    async fn connect(&self) -> io::Result<Connection> {
        let stream = TcpStream::connect(&*self.address).await?;
        // The end of a request must not wait for an acknowledgement of what went before it.
        stream.set_nodelay(true)?;
        Connection::new(TokioIo::new(stream)).await.map_err(io::Error::other)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        // Nothing panics while it is held.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Within it a connection is not looked at again, which costs a call of the system: a function
/// that is quick asks for the next invocation some microseconds after its answer was accepted.
const MOMENT: Duration = Duration::from_micros(100);
