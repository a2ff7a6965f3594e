//! The connector of the connection pool: TCP or a proxy, TLS over it for an https endpoint, and one
//! timeout for all of it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use rustls::ClientConfig;
use tokio::time;
use tower_service::Service;

use super::connect_error::ConnectError;
use super::deferred_error::DeferredWriteError;
use super::proxy::{Dialed, Dialer, Proxy};
use super::resolver::Resolver;
use super::{BoxError, HttpVersion};

/// Makes connections to one endpoint.
#[derive(Clone, Debug)]
pub(super) struct Connector {
    layers: Layers,
    version: HttpVersion,
    /// For the name, TCP, the proxy and TLS together.
    timeout: Duration,
    proxy: Option<Proxy>,
}

#[derive(Clone)]
enum Layers {
    Tcp(Dialer),
    Tls(HttpsConnector<Dialer>),
}

impl Connector {
    /// Makes a connector without TLS.
    pub(super) fn tcp(version: HttpVersion, timeout: Duration, proxy: Option<Proxy>) -> Self {
        let layers = Layers::Tcp(Dialer::new(tcp(timeout), proxy.clone()));
        Self { layers, version, timeout, proxy }
    }

    /// Makes a connector with TLS. It sets the ALPN protocols of `config`.
    pub(super) fn tls(
        mut config: ClientConfig,
        version: HttpVersion,
        timeout: Duration,
        proxy: Option<Proxy>,
    ) -> Self {
        // RFC 9113, section 3.2: over TLS, HTTP/2 is used only if ALPN has agreed on it.
        config.alpn_protocols = match version {
            HttpVersion::Negotiated => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
            HttpVersion::Http1 => vec![b"http/1.1".to_vec()],
            HttpVersion::Http2 => vec![b"h2".to_vec()],
        };
        let dialer = Dialer::new(tcp(timeout), proxy.clone());
        let layers = Layers::Tls(HttpsConnector::from((dialer, config)));
        Self { layers, version, timeout, proxy }
    }

    /// Returns the proxy if it reads the requests, as it does without TLS.
    pub(super) fn forwarding_proxy(&self) -> Option<&Proxy> {
        match self.layers {
            Layers::Tcp(_) => self.proxy.as_ref(),
            Layers::Tls(_) => None,
        }
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

/// The error of a connection before TLS.
pub(super) type TcpError = <HttpConnector<Resolver> as Service<Uri>>::Error;

impl Service<Uri> for Connector {
    type Response = DeferredWriteError<MaybeHttpsStream<Dialed>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match &mut self.layers {
            Layers::Tcp(tcp) => tcp.poll_ready(cx),
            Layers::Tls(tls) => tls.poll_ready(cx),
        }
    }

    fn call(&mut self, endpoint: Uri) -> Self::Future {
        let timeout = self.timeout;
        let proxy = self.proxy.clone();
        match &mut self.layers {
            Layers::Tcp(tcp) => {
                let connecting = tcp.call(endpoint);
                let is_http2 = self.version == HttpVersion::Http2;
                Box::pin(async move {
                    match time::timeout(timeout, connecting).await {
                        Ok(Ok(stream)) => Ok(DeferredWriteError::new(stream.into(), is_http2)),
                        Ok(Err(error)) => Err(ConnectError::describe(error, timeout, proxy)),
                        Err(_elapsed) => Err(ConnectError::timed_out(timeout, proxy).into()),
                    }
                })
            }
            Layers::Tls(tls) => {
                let connecting = tls.call(endpoint);
                let must_agree = self.version == HttpVersion::Http2;
                Box::pin(async move {
                    let stream = match time::timeout(timeout, connecting).await {
                        Ok(Ok(stream)) => stream,
                        Ok(Err(error)) => {
                            return Err(ConnectError::describe(error, timeout, proxy));
                        }
                        Err(_elapsed) => {
                            return Err(ConnectError::timed_out(timeout, proxy).into());
                        }
                    };
                    // A server may ignore ALPN, and would read the preface of HTTP/2 as a request.
                    let is_http2 = stream.connected().is_negotiated_h2();
                    if must_agree && !is_http2 {
                        return Err(ConnectError::NotHttp2.into());
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

fn tcp(timeout: Duration) -> HttpConnector<Resolver> {
    let mut tcp = HttpConnector::new_with_resolver(Resolver::new());
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
