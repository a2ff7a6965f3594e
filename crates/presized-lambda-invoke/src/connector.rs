//! How a connection is made: TCP, TLS over it where the endpoint wants it, and the time that
//! both may take. How long it is kept is the pool's affair.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time;
use tower_service::Service;

use super::BoxError;
use super::transport::{HttpVersion, TransportSettings};

/// Makes connections for the pool.
#[derive(Clone, Debug)]
pub(super) struct Connector {
    connect: HttpsConnector<HttpConnector>,
    version: HttpVersion,
    timeout: Duration,
}

impl Connector {
    /// Reads the roots that the system trusts, unless there is a configuration or no TLS.
    pub(super) fn new(settings: &TransportSettings) -> Result<Self, BoxError> {
        let mut tls = tls_config(settings)?;
        // RFC 9113, section 3.2: over TLS, HTTP/2 is what ALPN has agreed on and nothing else.
        tls.alpn_protocols = match settings.version {
            HttpVersion::Negotiated => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
            HttpVersion::Http1 => vec![b"http/1.1".to_vec()],
            HttpVersion::Http2 => vec![b"h2".to_vec()],
        };
        let connect = HttpsConnector::from((tcp(settings.connect_timeout), tls));
        Ok(Self { connect, version: settings.version, timeout: settings.connect_timeout })
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connect.poll_ready(cx)
    }

    fn call(&mut self, endpoint: Uri) -> Self::Future {
        let must_agree =
            self.version == HttpVersion::Http2 && endpoint.scheme() == Some(&Scheme::HTTPS);
        let timeout = self.timeout;
        let connecting = self.connect.call(endpoint);
        Box::pin(async move {
            let stream = time::timeout(timeout, connecting).await.map_err(|_elapsed| {
                io::Error::new(io::ErrorKind::TimedOut, format!("no connection in {timeout:?}"))
            })??;
            // A server may ignore ALPN, and would take the preface of HTTP/2 for a request.
            if must_agree && !stream.connected().is_negotiated_h2() {
                return Err("the server has not agreed to HTTP/2".into());
            }
            Ok(stream)
        })
    }
}

fn tcp(timeout: Duration) -> HttpConnector {
    let mut tcp = HttpConnector::new();
    // The scheme is looked at one layer up.
    tcp.enforce_http(false);
    // The end of a request must not wait for an acknowledgement of what went before it.
    tcp.set_nodelay(true);
    // Shared between the addresses of a name: one that is silent leaves time for the next.
    tcp.set_connect_timeout(Some(timeout));
    tcp.set_keepalive(Some(KEEPALIVE_IDLE));
    tcp.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
    tcp.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
    tcp
}

fn tls_config(settings: &TransportSettings) -> Result<ClientConfig, BoxError> {
    if let Some(config) = &settings.tls_config {
        return Ok(config.clone());
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?;
    let builder = if settings.tls {
        builder.with_native_roots()?
    } else {
        // To read the roots takes milliseconds, and a bare container has none.
        builder.with_root_certificates(RootCertStore::empty())
    };
    Ok(builder.with_no_client_auth())
}

/// Silence after which TCP asks whether the peer is still there.
///
/// While a function runs, nothing is sent either way. NAT gateways and load balancers of AWS
/// forget a flow after 350 s of that
/// (<https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html>), and the
/// answer then never arrives; many others wait less. Plain `SO_KEEPALIVE` starts after two hours on
/// Linux.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);

/// Between two questions that nobody answers. With the retries it is two minutes from the
/// last sign of a peer to the error that says it is gone, which a lost packet or a short
/// outage does not reach.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Questions without an answer that end a connection.
const KEEPALIVE_RETRIES: u32 = 4;
