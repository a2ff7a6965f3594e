//! The transport: it sends a request once, over a pool of connections, and tells how far a failed
//! request came. The retry policy is not here.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{HOST, PROXY_AUTHORIZATION};
use http::uri::{Authority, Scheme};
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use hyper_util::client::legacy::{self, ResponseFuture};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use presized::HTTP1_MAX_BUF_SIZE;
use tokio::task;

use super::call_options::FAR;
use super::connect_error::ConnectError;
use super::connector::Connector;
use super::proxy::{Proxy, ProxyError};
use super::request_body::{Progress, RequestBody};
use keep_alive::KeepAlive;

pub(super) use send_error::{Phase, SendError, TransportError};

mod keep_alive;
mod send_error;

/// A pool of connections. Clones share the pool.
#[derive(Clone, Debug)]
pub(super) struct Transport {
    client: legacy::Client<Connector, RequestBody>,
    /// All connections speak HTTP/1.1, so that every request needs `Host`.
    http1: bool,
    /// The proxy, if it reads the requests.
    proxy: Option<Proxy>,
    last_response: Arc<LastResponse>,
    keep_alive: Arc<KeepAlive>,
}

impl Transport {
    /// Makes a pool of connections by `connector`. `idle_timeout` is the time that a connection
    /// without a request is kept.
    pub(super) fn new(connector: Connector, idle_timeout: Duration) -> Self {
        // It is added to an `Instant`, which would panic.
        let idle_timeout = idle_timeout.min(FAR);
        let http1 = connector.is_http1_only();
        let proxy = connector.forwarding_proxy().cloned();
        let client = legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(idle_timeout)
            // tinyproxy closes a connection after each response without `Connection: close`. A
            // request that was written at that moment would be lost.
            .pool_max_idle_per_host(if proxy.is_some() { 0 } else { usize::MAX })
            // Safe: hyper returns a request only if its connection failed before it took the
            // request from its queue, and hyper-util sends only returned requests again.
            .retry_canceled_requests(true)
            .set_host(!http1)
            .http1_max_buf_size(HTTP1_MAX_BUF_SIZE)
            .http2_only(connector.is_http2_only())
            .http2_initial_stream_window_size(HTTP2_STREAM_WINDOW)
            .http2_initial_connection_window_size(HTTP2_CONNECTION_WINDOW)
            .http2_keep_alive_interval(HTTP2_PING_INTERVAL)
            .http2_keep_alive_timeout(HTTP2_PING_TIMEOUT)
            .http2_max_concurrent_reset_streams(HTTP2_RESET_STREAMS)
            .http2_max_local_error_reset_streams(HTTP2_STREAM_ERRORS)
            .build(connector);
        let keep_alive = Arc::new(KeepAlive::new(idle_timeout));
        Self { client, http1, proxy, last_response: Arc::default(), keep_alive }
    }

    /// Sends a request with an absolute URI once. Nothing is sent before the first poll.
    ///
    /// The request must have a `Host`, which HTTP/1.1 sends. HTTP/2 sends the authority of the URI
    /// as `:authority` instead.
    pub(super) fn send(&self, mut request: Request<Full<Bytes>>) -> Sending {
        if !self.http1 {
            // RFC 9113, section 8.3.1: `:authority` replaces it. hyper-util adds it for HTTP/1.1.
            request.headers_mut().remove(HOST);
        }
        let proxy = self.proxy.clone();
        if let Some(authorization) = proxy.as_ref().and_then(Proxy::authorization) {
            // It is not part of the signature, because the proxy removes it.
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization.clone());
        }
        let host = request.uri().authority().cloned();
        let plain = request.uri().scheme() == Some(&Scheme::HTTP);
        let connection = capture_connection(&mut request);
        let (head, payload) = request.into_parts();
        let (body, progress) = RequestBody::new(payload);
        self.keep_alive.retire();
        let response = self.client.request(Request::from_parts(head, body));
        // The runtime then sees the connections that were closed while its thread was busy or the
        // process was frozen. Otherwise a current-thread runtime would write the request to a
        // connection that the server has closed.
        let yielding = self.last_response.is_old().then(|| Box::pin(task::yield_now()) as _);
        let last_response = Arc::clone(&self.last_response);
        let keep_alive = Arc::clone(&self.keep_alive);
        Sending {
            yielding,
            response,
            last_response,
            keep_alive,
            connection,
            progress,
            host,
            plain,
            proxy,
        }
    }
}

/// The time of the last response.
///
/// A request shortly after it does not yield to the runtime first. To ask the kernel about closed
/// connections is a system call, which is a twentieth of the cost of a short call.
#[derive(Debug)]
struct LastResponse {
    start: Instant,
    /// Microseconds from `start` to the last response.
    at: AtomicU64,
}

impl LastResponse {
    fn set_to_now(&self) {
        self.at.store(self.now(), Ordering::Relaxed);
    }

    fn is_old(&self) -> bool {
        self.now().saturating_sub(self.at.load(Ordering::Relaxed)) > RECENT
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Default for LastResponse {
    fn default() -> Self {
        Self { start: Instant::now(), at: AtomicU64::new(0) }
    }
}

/// A request in progress, until the head of its response has arrived.
///
/// If the connection has begun to send the request, dropping this closes the connection
/// (HTTP/1.1) or resets the stream (HTTP/2).
#[must_use = "futures do nothing unless polled"]
pub(super) struct Sending {
    /// Completes before the pool gets the request.
    yielding: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    response: ResponseFuture,
    last_response: Arc<LastResponse>,
    keep_alive: Arc<KeepAlive>,
    connection: CaptureConnection,
    progress: Arc<Progress>,
    /// Named in the error.
    host: Option<Authority>,
    /// The URL says http.
    plain: bool,
    /// The proxy, if it reads the request.
    proxy: Option<Proxy>,
}

impl Sending {
    /// Cancels the request and returns how far it may have come.
    pub(super) fn abandon(self) -> Phase {
        // If the request has a connection, the connection may begin to send it at this moment,
        // even if `progress` says that it has not begun.
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
        if let Some(yielding) = &mut self.yielding {
            ready!(yielding.as_mut().poll(cx));
            self.yielding = None;
        }
        let result = ready!(Pin::new(&mut self.response).poll(cx));
        self.last_response.set_to_now();
        if let Ok(response) = &result {
            self.keep_alive.record(response, &self.connection);
            // Only a proxy sends this status, before it forwards anything (RFC 9110, section
            // 15.5.8).
            if let Some(proxy) = &self.proxy
                && response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED
            {
                let (proxy, status) = (proxy.clone(), response.status());
                let error = ConnectError::Proxy(ProxyError::Refused { proxy, status });
                return Poll::Ready(Err(SendError { phase: Phase::NotSent, source: error.into() }));
            }
        }
        Poll::Ready(result.map_err(|error| SendError {
            phase: Phase::of(&error, &self.progress),
            source: TransportError { host: self.host.clone(), plain: self.plain, error }.into(),
        }))
    }
}

/// The bytes of one response that may arrive before they are read. A response of 6 MiB takes four
/// round trips.
const HTTP2_STREAM_WINDOW: u32 = 2 << 20;

/// The same for all responses of a connection: the maximum (RFC 9113, section 6.9.1), so that only
/// the windows of the streams limit anything. Responses that wait for the memory budget are not
/// read, and must not block the responses whose end would free memory for them.
const HTTP2_CONNECTION_WINDOW: u32 = (1 << 31) - 1;

/// The time after a response in which the next request does not yield first, in microseconds. A
/// server that closes the connection within it could also do so while the request is sent.
const RECENT: u64 = 1000;

/// The number of reset streams that a connection remembers, each for one second. The frames that
/// the server had sent before it saw the reset are ignored. A late frame of a forgotten stream
/// causes another reset. A thousand streams take less than 2.4 MB, counted with the memory of the
/// server.
const HTTP2_RESET_STREAMS: usize = 1024;

/// The number of stream errors after which h2 ends the connection, and all other calls on it: none.
///
/// h2 counts the late frames of forgotten streams as errors, so that a connection would end after
/// 1,024 of them, however old it is. The limit protects servers, whose clients choose the number of
/// streams (<https://docs.rs/h2/latest/h2/client/struct.Builder.html#method.max_local_error_reset_streams>).
/// A client opens its streams itself, and a frame of any other stream still ends the connection.
const HTTP2_STREAM_ERRORS: Option<usize> = None;

/// Pings are sent while a request waits for its response. They keep the flow alive as TCP probes
/// do, and they reach the server through a proxy, which acknowledges TCP itself.
const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(30);

/// The time after which a connection without a reply to a ping is closed.
const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests;
