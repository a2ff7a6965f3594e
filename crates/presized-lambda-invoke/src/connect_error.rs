use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::time::Duration;

use rustls::{CertificateError, InvalidMessage};
use tokio::time::error::Elapsed;

use super::BoxError;
use super::proxy::{Proxy, ProxyError};

/// Why there is no connection, if the error of a lower layer does not say what to do about it.
#[derive(Debug)]
pub(super) enum ConnectError {
    /// There was no connection in the connect timeout.
    Timeout(Duration),
    /// No trusted root has signed the certificate of the server.
    Untrusted(BoxError),
    /// The certificate of the server is invalid for another reason.
    Certificate(BoxError),
    /// The server does not speak TLS.
    NotTls(BoxError),
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

    /// Returns whether the next connection would fail in the same way.
    pub(super) fn is_permanent(error: &(dyn StdError + 'static)) -> bool {
        find(error).is_some_and(|error| match error {
            Self::Timeout(_) => false,
            Self::Untrusted(_) | Self::Certificate(_) | Self::NotTls(_) => true,
            Self::Proxy(error) => error.is_permanent(),
        })
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(timeout) => {
                write!(f, "no connection within the connect timeout of {timeout:?}")
            }
            Self::Untrusted(_) => f.write_str(
                "no trusted root has signed the certificate of the server: call \
                 root_certificates_pem() to trust its root",
            ),
            Self::Certificate(_) => f.write_str("certificate of the server is invalid"),
            Self::NotTls(_) => f.write_str(
                "server does not speak TLS at this port: use http in the endpoint URL, or the \
                 port of https",
            ),
            Self::Proxy(error) => error.fmt(f),
        }
    }
}

impl StdError for ConnectError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Timeout(_) => None,
            Self::Untrusted(source) | Self::Certificate(source) | Self::NotTls(source) => {
                Some(&**source)
            }
            Self::Proxy(error) => error.source(),
        }
    }
}

/// Returns the first error of a type among an error and its causes.
fn find<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // The source of an `io::Error` is the source of the error in it.
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}
