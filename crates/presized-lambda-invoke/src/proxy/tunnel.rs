//! The tunnel through a proxy. hyper-util opens it, and this module notes the status of the
//! response, which the error of hyper-util does not have.

use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::task::{self, Poll};

use http::{StatusCode, Uri};
use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::{Proxy, ProxyError};

/// Asks the proxy at the other end of `tcp` to connect to `endpoint`, and returns `tcp`, which then
/// leads to the endpoint.
pub(super) async fn tunnel(
    tcp: TokioIo<TcpStream>,
    proxy: &Proxy,
    endpoint: Uri,
) -> Result<TokioIo<TcpStream>, ProxyError> {
    let status = Arc::<AtomicU16>::default();
    let handshake = Handshake { tcp, begin: Vec::new(), status: Arc::clone(&status) };
    let mut tunnel = Tunnel::new(proxy.uri().clone(), Connected(Some(handshake)));
    if let Some(authorization) = proxy.authorization() {
        tunnel = tunnel.with_auth(authorization.clone());
    }
    let error = match tunnel.call(endpoint).await {
        Ok(handshake) => return Ok(handshake.tcp),
        Err(error) => error,
    };
    let proxy = proxy.clone();
    Err(match StatusCode::from_u16(status.load(Ordering::Relaxed)) {
        Ok(status) if status != StatusCode::OK => ProxyError::Refused { proxy, status },
        _ => ProxyError::NoResponse { proxy, source: error.into() },
    })
}

/// Gives [`Tunnel`] a connection that is there already.
struct Connected(Option<Handshake>);

impl Service<Uri> for Connected {
    type Response = Handshake;
    type Error = io::Error;
    type Future = Ready<io::Result<Handshake>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _proxy: Uri) -> Self::Future {
        ready(self.0.take().ok_or_else(|| io::ErrorKind::NotConnected.into()))
    }
}

/// A connection to the proxy that notes the status of the response to CONNECT.
struct Handshake {
    tcp: TokioIo<TcpStream>,
    /// The begin of the status line, such as `HTTP/1.1 200` (RFC 9112, section 4).
    begin: Vec<u8>,
    /// The status, or 0 before it has arrived.
    status: Arc<AtomicU16>,
}

impl Handshake {
    fn note(&mut self, read: &[u8]) {
        let missing = STATUS_END - self.begin.len();
        self.begin.extend_from_slice(&read[..read.len().min(missing)]);
        let Some(digits) = self.begin.get(STATUS_BEGIN..STATUS_END) else { return };
        if let Ok(status) = StatusCode::from_bytes(digits) {
            self.status.store(status.as_u16(), Ordering::Relaxed);
        }
    }
}

impl Read for Handshake {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut bytes = [0; 512];
        let length = bytes.len().min(buf.remaining());
        let mut read = ReadBuf::new(&mut bytes[..length]);
        let polled = Pin::new(&mut self.tcp).poll_read(cx, read.unfilled());
        self.note(read.filled());
        buf.put_slice(read.filled());
        polled
    }
}

impl Write for Handshake {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

const STATUS_BEGIN: usize = "HTTP/1.1 ".len();
const STATUS_END: usize = "HTTP/1.1 200".len();
