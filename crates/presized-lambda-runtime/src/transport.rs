//! The connections to one address.

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

/// Sends requests to one address, and keeps idle connections to it.
pub(super) struct Transport {
    /// Host and port.
    address: String,
    idle: Mutex<Vec<IdleConnection>>,
}

struct IdleConnection {
    connection: Connection,
    since: Instant,
}

/// The reason why a request has no response.
#[derive(Debug)]
pub(super) enum SendError {
    /// No connection could be opened.
    Connect(io::Error),
    /// The connection ended before the response, or the response is not HTTP.
    Broken(hyper::Error),
}

impl Transport {
    pub(super) fn new(address: String) -> Self {
        Self { address, idle: Mutex::default() }
    }

    /// Sends a request and waits for the head of its response, without a timeout.
    ///
    /// Replaces an idle connection that was closed before anything was written.
    pub(super) async fn send(
        &self,
        mut request: Request<Outgoing>,
    ) -> Result<(response::Parts, Exchange), SendError> {
        loop {
            let idle = self.take_idle().await;
            let was_idle = idle.is_some();
            let connection = match idle {
                Some(connection) => connection,
                None => self.connect().await.map_err(SendError::Connect)?,
            };
            match connection.send(request).await {
                Ok(response) => return Ok(response),
                Err(mut error) => match error.take_message() {
                    Some(unsent) if was_idle => request = unsent,
                    _ => {
                        // The others have been idle for as long or longer.
                        self.close_idle();
                        return Err(SendError::Broken(error.into_error()));
                    }
                },
            }
        }
    }

    /// Keeps the connection of an exchange whose request and response are complete. Closes any
    /// other.
    pub(super) async fn release(&self, exchange: Exchange) {
        let mut connection = exchange.into_connection();
        if poll_fn(|cx| Poll::Ready(connection.poll_ready(cx))).await == Poll::Ready(true) {
            self.idle().push(IdleConnection { connection, since: Instant::now() });
        }
    }

    /// Closes the idle connections.
    pub(super) fn close_idle(&self) {
        let idle = std::mem::take(&mut *self.idle());
        drop(idle);
    }

    async fn take_idle(&self) -> Option<Connection> {
        let IdleConnection { connection, since } = self.idle().pop()?;
        if since.elapsed() > RECENT {
            // Lets tokio see that the connection was closed while the thread was busy or the
            // process was frozen. A current-thread runtime would otherwise write the request to
            // a connection that the kernel knows to be closed.
            task::yield_now().await;
        }
        Some(connection)
    }

    async fn connect(&self) -> io::Result<Connection> {
        let stream = TcpStream::connect(&*self.address).await?;
        // The end of a request must not wait for an acknowledgement of its beginning.
        stream.set_nodelay(true)?;
        Connection::new(TokioIo::new(stream)).await.map_err(io::Error::other)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<IdleConnection>> {
        // No code panics while it holds the lock.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time for which an idle connection is used again without a check.
///
/// The check costs a system call. A fast function asks for the next invocation some microseconds
/// after its response was accepted.
const RECENT: Duration = Duration::from_micros(100);
