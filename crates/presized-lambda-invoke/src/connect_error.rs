use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::{CertificateError, InvalidMessage};
use tokio::time::error::Elapsed;

use super::causes::find;
use super::connector::TcpError;
use super::proxy::{Proxy, ProxyError};
use super::transport::TransportError;
use super::{BoxError, ConnectErrorKind};

/// The reason why there is no connection, if the error of a lower layer does not say what to do about it.
#[derive(Debug)]
pub(super) enum ConnectError {
    /// The host has no address, or the resolver failed.
    Dns { host: String, source: Arc<io::Error> },
    /// The host refused the connection.
    Refused(BoxError),
    /// There is no route to the host.
    Unreachable(BoxError),
    /// There was no connection in the connect timeout.
    Timeout(Duration),
    /// No trusted root has signed the certificate of the server.
    Untrusted(BoxError),
    /// The certificate of the server is invalid for another reason.
    Certificate(BoxError),
    /// The server does not speak TLS.
    NotTls(BoxError),
    /// The TLS handshake failed for another reason.
    Tls(BoxError),
    /// The server does not speak HTTP/2.
    NotHttp2,
    /// The proxy failed.
    Proxy(ProxyError),
}

impl ConnectError {
    /// Describes an error of TCP or TLS. It returns the error itself if that says enough.
    pub(super) fn describe(error: BoxError, timeout: Duration, proxy: Option<Proxy>) -> BoxError {
        let described = match find::<rustls::Error>(&*error) {
            // A trusted root with the name of the issuer has another key.
            Some(rustls::Error::InvalidCertificate(
                CertificateError::UnknownIssuer | CertificateError::BadSignature,
            )) => Self::Untrusted(error),
            Some(rustls::Error::InvalidCertificate(_)) => Self::Certificate(error),
            Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
                Self::NotTls(error)
            }
            // TCP has a timer of its own for each address.
            _ if find::<Elapsed>(&*error).is_some() => Self::timed_out(timeout, proxy),
            _ if matches!(find(&*error), Some(Self::Proxy(_))) => return error,
            _ if find::<TcpError>(&*error).is_none() => Self::Tls(error),
            _ => return Self::of_tcp(error, timeout),
        };
        described.into()
    }

    /// Describes an error before the TLS handshake.
    fn of_tcp(error: BoxError, timeout: Duration) -> BoxError {
        if let Some(Self::Dns { host, source }) = find(&*error) {
            return Self::Dns { host: host.clone(), source: Arc::clone(source) }.into();
        }
        let described = match find::<io::Error>(&*error).map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => Self::Refused(error),
            Some(
                io::ErrorKind::HostUnreachable
                | io::ErrorKind::NetworkUnreachable
                | io::ErrorKind::NetworkDown,
            ) => Self::Unreachable(error),
            // The timeout of the system.
            Some(io::ErrorKind::TimedOut) => Self::Timeout(timeout),
            _ => return error,
        };
        described.into()
    }

    /// Makes the error of a connection that was not made in the connect timeout.
    pub(super) fn timed_out(after: Duration, proxy: Option<Proxy>) -> Self {
        match proxy {
            None => Self::Timeout(after),
            Some(proxy) => Self::Proxy(ProxyError::Timeout { proxy, after }),
        }
    }

    /// Returns why there was no connection.
    pub(super) fn kind_of(error: &(dyn StdError + 'static)) -> ConnectErrorKind {
        match find(error) {
            Some(Self::Dns { .. }) => ConnectErrorKind::Dns,
            Some(Self::Refused(_)) => ConnectErrorKind::Refused,
            Some(Self::Unreachable(_)) => ConnectErrorKind::Unreachable,
            Some(Self::Timeout(_)) => ConnectErrorKind::Timeout,
            Some(Self::Proxy(_)) => ConnectErrorKind::Proxy,
            Some(
                Self::Untrusted(_)
                | Self::Certificate(_)
                | Self::NotTls(_)
                | Self::Tls(_)
                | Self::NotHttp2,
            ) => ConnectErrorKind::Tls,
            None if find(error).is_some_and(TransportError::had_connection) => {
                ConnectErrorKind::Closed
            }
            None => ConnectErrorKind::Other,
        }
    }

    /// Returns whether the next connection would fail in the same way.
    pub(super) fn is_permanent(error: &(dyn StdError + 'static)) -> bool {
        find(error).is_some_and(|error| match error {
            Self::Untrusted(_) | Self::Certificate(_) | Self::NotTls(_) | Self::NotHttp2 => true,
            Self::Proxy(error) => error.is_permanent(),
            Self::Dns { .. }
            | Self::Refused(_)
            | Self::Unreachable(_)
            | Self::Timeout(_)
            | Self::Tls(_) => false,
        })
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns { host, .. } => write!(
                f,
                "name lookup of {host} failed: check the region, the endpoint URL or the proxy \
                 that names it, and the resolver"
            ),
            Self::Refused(_) => f.write_str(
                "host refused the connection: check the host and the port of the endpoint URL",
            ),
            Self::Unreachable(_) => {
                f.write_str("no route to the host: check the network and the endpoint URL")
            }
            Self::Timeout(timeout) => write!(
                f,
                "no connection within the connect timeout of {timeout:?}: check the network and the \
                 endpoint URL, or call connect_timeout()"
            ),
            Self::Untrusted(_) => f.write_str(
                "no trusted root has signed the certificate of the server: call \
                 root_certificates_pem() to trust its root",
            ),
            Self::Certificate(_) => f.write_str(
                "certificate of the server is invalid: check the certificate, the host of the \
                 endpoint URL and the clock",
            ),
            Self::NotTls(_) => f.write_str(
                "server does not speak TLS at this port: use http in the endpoint URL, or the \
                 port of https",
            ),
            Self::Proxy(error) => error.fmt(f),
            Self::Tls(_) => f.write_str(
                "TLS handshake failed: check the endpoint URL, and call client_certificate_pem() if \
                 the server requires a certificate",
            ),
            Self::NotHttp2 => f.write_str(
                "server did not agree to HTTP/2 by ALPN: use another http_version() than Http2",
            ),
        }
    }
}

impl StdError for ConnectError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Timeout(_) | Self::NotHttp2 => None,
            Self::Proxy(error) => error.source(),
            Self::Dns { source, .. } => Some(&**source),
            Self::Refused(source)
            | Self::Unreachable(source)
            | Self::Untrusted(source)
            | Self::Certificate(source)
            | Self::NotTls(source)
            | Self::Tls(source) => Some(&**source),
        }
    }
}
