//! The connector of the connection pool: TCP, TLS over it for an https endpoint, and one timeout
//! for both.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::time;
use tower_service::Service;

use super::connect_error::ConnectError;
use super::deferred_error::DeferredWriteError;
use super::{BoxError, HttpVersion};

/// Makes connections to one endpoint.
#[derive(Clone, Debug)]
pub(super) struct Connector {
    layers: Layers,
    version: HttpVersion,
    /// For the name, TCP and TLS together.
    timeout: Duration,
}

#[derive(Clone)]
enum Layers {
    Tcp(HttpConnector),
    Tls(HttpsConnector<HttpConnector>),
}

impl Connector {
    /// Makes a connector without TLS.
    pub(super) fn tcp(version: HttpVersion, timeout: Duration) -> Self {
        Self { layers: Layers::Tcp(tcp(timeout)), version, timeout }
    }

    /// Makes a connector with TLS. It sets the ALPN protocols of `config`.
    pub(super) fn tls(mut config: ClientConfig, version: HttpVersion, timeout: Duration) -> Self {
        // RFC 9113, section 3.2: over TLS, HTTP/2 is used only if ALPN has agreed on it.
        config.alpn_protocols = match version {
            HttpVersion::Negotiated => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
            HttpVersion::Http1 => vec![b"http/1.1".to_vec()],
            HttpVersion::Http2 => vec![b"h2".to_vec()],
        };
        let layers = Layers::Tls(HttpsConnector::from((tcp(timeout), config)));
        Self { layers, version, timeout }
    }

    /// Returns whether no connection can speak anything but HTTP/1.1.
    pub(super) fn is_http1_only(&self) -> bool {
        match self.version {
            HttpVersion::Negotiated => matches!(self.layers, Layers::Tcp(_)),
            HttpVersion::Http1 => true,
            HttpVersion::Http2 => false,
        }
    }

    /// Returns whether no connection can speak anything but HTTP/2.
    pub(super) fn is_http2_only(&self) -> bool {
        self.version == HttpVersion::Http2
    }
}

impl Service<Uri> for Connector {
    type Response = DeferredWriteError<MaybeHttpsStream<TokioIo<TcpStream>>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match &mut self.layers {
            Layers::Tcp(tcp) => tcp.poll_ready(cx).map_err(Into::into),
            Layers::Tls(tls) => tls.poll_ready(cx),
        }
    }

    fn call(&mut self, endpoint: Uri) -> Self::Future {
        let timeout = self.timeout;
        let timed_out = move |_elapsed| ConnectError::Timeout(timeout);
        match &mut self.layers {
            Layers::Tcp(tcp) => {
                let connecting = tcp.call(endpoint);
                let is_http2 = self.version == HttpVersion::Http2;
                Box::pin(async move {
                    let connected = time::timeout(timeout, connecting).await.map_err(timed_out)?;
                    match connected {
                        Ok(stream) => Ok(DeferredWriteError::new(stream.into(), is_http2)),
                        Err(error) => Err(ConnectError::describe(error.into(), timeout)),
                    }
                })
            }
            Layers::Tls(tls) => {
                let connecting = tls.call(endpoint);
                let must_agree = self.version == HttpVersion::Http2;
                Box::pin(async move {
                    let connected = time::timeout(timeout, connecting).await.map_err(timed_out)?;
                    let stream =
                        connected.map_err(|error| ConnectError::describe(error, timeout))?;
                    // A server may ignore ALPN, and would read the preface of HTTP/2 as a request.
                    let is_http2 = stream.connected().is_negotiated_h2();
                    if must_agree && !is_http2 {
                        return Err("the server did not agree to HTTP/2 by ALPN".into());
                    }
                    Ok(DeferredWriteError::new(stream, is_http2))
                })
            }
        }
    }
}

impl fmt::Debug for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp(_) => "Tcp",
            Self::Tls(_) => "Tls",
        })
    }
}

fn tcp(timeout: Duration) -> HttpConnector {
    let mut tcp = HttpConnector::new();
    // With TLS the scheme is https.
    tcp.enforce_http(false);
    // The end of a request must not wait for the acknowledgement of its beginning.
    tcp.set_nodelay(true);
    // Divided among the addresses of a name, so that a silent address leaves time for the next.
    tcp.set_connect_timeout(Some(timeout));
    tcp.set_keepalive(Some(KEEPALIVE_IDLE));
    tcp.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
    tcp.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
    tcp
}

/// The time without traffic after which TCP sends a keep-alive probe.
///
/// While a function runs, nothing is sent either way. NAT gateways and load balancers of AWS
/// drop a flow after 350 s without traffic
/// (<https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html>), and the
/// response then never arrives. Many other gateways drop it earlier. Plain `SO_KEEPALIVE` starts
/// after two hours on Linux.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);

/// The time between two probes without a reply. With the retries, a dead connection is an error
/// two minutes after its last traffic. A lost packet or a short outage does not last that long.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// The number of probes without a reply that end a connection.
const KEEPALIVE_RETRIES: u32 = 4;
