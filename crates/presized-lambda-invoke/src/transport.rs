//! One request, sent once: a pool of connections, and what can be said of a request that
//! failed. Whether to try again is decided above.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::HOST;
use http::uri::Authority;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use hyper_util::client::legacy::{self, Client, ResponseFuture};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::task;

use super::BoxError;
use super::connector::Connector;
use super::outgoing::{Outgoing, Progress};

/// A pool of connections. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Transport {
    client: Client<Connector, Outgoing>,
    /// Whether HTTP/1 is all that can be spoken, so that `Host` is right before the version is
    /// agreed upon.
    http1: bool,
    lull: Arc<Lull>,
}

impl Transport {
    /// Makes a pool of connections by `connector`. `idle_timeout` is the time that a connection
    /// without a request is kept.
    pub(super) fn new(connector: Connector, idle_timeout: Duration) -> Self {
        let http1 = connector.is_http1_only();
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(idle_timeout)
            // Safe: hyper gives a request back only if its connection failed before taking it
            // out of the queue, and hyper-util sends again what was given back, nothing else.
            .retry_canceled_requests(true)
            .set_host(!http1)
            .http1_max_buf_size(HTTP1_BUFFER)
            .http2_only(connector.is_http2_only())
            .http2_initial_stream_window_size(HTTP2_STREAM_WINDOW)
            .http2_initial_connection_window_size(HTTP2_CONNECTION_WINDOW)
            .http2_keep_alive_interval(HTTP2_PING_INTERVAL)
            .http2_keep_alive_timeout(HTTP2_PING_TIMEOUT)
            .build(connector);
        Self { client, http1, lull: Arc::default() }
    }

    /// Sends a request with an absolute URI, once. Nothing happens before the first poll.
    ///
    /// The host is that of the URI, without the port where it is the scheme's own: `:authority`
    /// in HTTP/2, and in HTTP/1 the `Host` that the request has to have.
    pub(super) fn send(&self, mut request: Request<Full<Bytes>>) -> Sending {
        if !self.http1 {
            // RFC 9113, section 8.3.1: not beside `:authority`. hyper-util adds it for HTTP/1.
            request.headers_mut().remove(HOST);
        }
        let host = request.uri().authority().cloned();
        let connection = capture_connection(&mut request);
        let (head, payload) = request.into_parts();
        let (body, progress) = Outgoing::new(payload);
        let response = self.client.request(Request::from_parts(head, body));
        // Lets the runtime hear of connections that were closed while its thread was busy or the
        // process was frozen. Without that a current-thread runtime writes the request to a
        // connection that the kernel knows to be closed.
        let look = self.lull.ends().then(|| Box::pin(task::yield_now()) as _);
        let lull = Arc::clone(&self.lull);
        Sending { look, response, lull, connection, progress, host }
    }
}

/// The time since the last response. To ask the kernel about connections costs a system call,
/// which is a twentieth of a short call, and after a moment it has nothing new to tell.
#[derive(Debug)]
struct Lull {
    since: Instant,
    /// Microseconds from then to the last response.
    begun: AtomicU64,
}

impl Lull {
    fn begins(&self) {
        self.begun.store(self.now(), Ordering::Relaxed);
    }

    fn ends(&self) -> bool {
        self.now().saturating_sub(self.begun.load(Ordering::Relaxed)) > MOMENT
    }

    fn now(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Default for Lull {
    fn default() -> Self {
        Self { since: Instant::now(), begun: AtomicU64::new(0) }
    }
}

/// A request on its way, until the head of the response is there.
///
/// To drop it ends an HTTP/1 connection that has begun with the request, and resets the
/// stream of HTTP/2.
#[must_use = "futures do nothing unless polled"]
pub(super) struct Sending {
    /// What comes before the request is given to the pool.
    look: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    response: ResponseFuture,
    lull: Arc<Lull>,
    connection: CaptureConnection,
    progress: Arc<Progress>,
    /// Of an error that says who it was that did not answer.
    host: Option<Authority>,
}

impl Sending {
    /// Gives the request up, and tells how far it can have come.
    pub(super) fn abandon(self) -> Phase {
        // A request that has no connection yet ends here. Of one that has, the connection may
        // take it up at this very moment, whatever its body says.
        if self.connection.connection_metadata().is_none() {
            Phase::Connect
        } else {
            Phase::MaybeSent
        }
    }
}

impl Future for Sending {
    type Output = Result<Response<Incoming>, SendError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(look) = &mut self.look {
            ready!(look.as_mut().poll(cx));
            self.look = None;
        }
        let result = ready!(Pin::new(&mut self.response).poll(cx));
        self.lull.begins();
        Poll::Ready(result.map_err(|error| SendError {
            phase: Phase::of(&error, &self.progress),
            source: Failed { host: self.host.clone(), error }.into(),
        }))
    }
}

/// Why there is no response.
#[derive(Debug)]
pub(super) struct SendError {
    pub(super) source: BoxError,
    pub(super) phase: Phase,
}

/// An error of the transport, as it is told: what hyper and hyper-util put around it says in
/// which of their functions it came up.
#[derive(Debug)]
struct Failed {
    host: Option<Authority>,
    error: legacy::Error,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut innermost: &(dyn StdError + 'static) = &self.error;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        match &self.host {
            Some(host) => write!(f, "{host}: {innermost}"),
            None => write!(f, "{innermost}"),
        }
    }
}

impl StdError for Failed {}

/// How far a request without a response can have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// There was no connection.
    Connect,
    /// It has not been acted upon: its connection had not begun with it, or the server said so.
    NotSent,
    /// It may have been received, and executed.
    MaybeSent,
}

impl Phase {
    fn of(error: &legacy::Error, progress: &Progress) -> Self {
        if error.connect_info().is_none() {
            Self::Connect
        } else if !progress.begun() || refused(error, progress) {
            Self::NotSent
        } else {
            Self::MaybeSent
        }
    }
}

/// Whether an HTTP/2 server has said that it has not acted upon a request and will not
/// (RFC 9113, section 8.7).
fn refused(error: &legacy::Error, progress: &Progress) -> bool {
    let Some(error) = find_h2(error) else { return false };
    if !error.is_remote() {
        return false;
    }
    if error.is_go_away() {
        // h2 ends a stream with the GOAWAY of the peer if its number is above the last one
        // that the peer may act upon (section 6.8), and leaves the others alone. But hyper
        // also asks the connection, between handing on a head and asking for the payload, and
        // an error from there says nothing about the stream.
        progress.streamed()
    } else {
        error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM)
    }
}

fn find_h2<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a h2::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// The most that an HTTP/1 connection reads at once, and keeps for it.
///
/// hyper goes up to 408 KiB. glibc and musl map blocks above 128 KiB and give them back, so
/// that each of their pages faults again, for every body.
const HTTP1_BUFFER: usize = 120 * 1024;

/// What may arrive of one response before it is read: 6 MiB take four round trips.
const HTTP2_STREAM_WINDOW: u32 = 2 << 20;

/// The same of all responses of one connection: the most there is (RFC 9113, section 6.9.1), so
/// that only the windows of the streams bound anything. Responses that wait for a budget are not
/// read, and must not stop those whose end would make room for them.
const HTTP2_CONNECTION_WINDOW: u32 = (1 << 31) - 1;

/// Microseconds after a response in which its connection is not looked at before it is used
/// again. A server that closes it within them might as well do so while the request is under way.
const MOMENT: u64 = 1000;

/// Pings go while a request waits for its response, and keep the flow alive as those of TCP
/// do. They also reach the server through a proxy, which acknowledges TCP by itself.
const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(30);

/// A connection that has not answered a ping by then is dead.
const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests;
