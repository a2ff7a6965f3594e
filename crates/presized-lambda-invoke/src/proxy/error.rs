use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use http::StatusCode;

use super::Proxy;
use crate::BoxError;

/// The reason why there is no connection through a proxy.
#[derive(Debug)]
pub(crate) enum ProxyError {
    /// There is no connection to the proxy.
    Unreachable { proxy: Proxy, source: BoxError },
    /// The proxy did not connect to the endpoint, or it did not forward a request.
    Refused { proxy: Proxy, status: StatusCode },
    /// The response of the proxy is missing or invalid.
    NoResponse { proxy: Proxy, source: BoxError },
    /// There was no connection to the endpoint in the connect timeout.
    Timeout { proxy: Proxy, after: Duration },
}

impl ProxyError {
    /// Returns whether the next connection would fail in the same way.
    pub(crate) fn is_permanent(&self) -> bool {
        let Self::Refused { status, .. } = self else { return false };
        let is_busy = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS].contains(status);
        status.is_client_error() && !is_busy
    }
}

impl fmt::Display for ProxyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { proxy, .. } => write!(
                f,
                "no connection to the proxy {proxy}: check its address, or exclude the endpoint by \
                 no_proxy() or NO_PROXY"
            ),
            Self::Refused { proxy, status } => {
                let has_credentials = proxy.authorization().is_some();
                let code = status.as_u16();
                match *status {
                    StatusCode::PROXY_AUTHENTICATION_REQUIRED if !has_credentials => write!(
                        f,
                        "proxy {proxy} requires credentials (status {code}): put them into its \
                         URL, as in http://user:password@host:port"
                    ),
                    // tinyproxy sends 401 for wrong credentials.
                    StatusCode::PROXY_AUTHENTICATION_REQUIRED | StatusCode::UNAUTHORIZED => write!(
                        f,
                        "proxy {proxy} refused the credentials in its URL (status {code}): check \
                         them, and that it accepts Basic authentication"
                    ),
                    status if status.is_server_error() => write!(
                        f,
                        "proxy {proxy} could not connect to the endpoint (status {code}): check \
                         that it can resolve and reach the endpoint"
                    ),
                    _ => write!(
                        f,
                        "proxy {proxy} refused to connect to the endpoint (status {code}): allow \
                         the endpoint in the proxy, or exclude it by no_proxy() or NO_PROXY"
                    ),
                }
            }
            Self::NoResponse { proxy, .. } => write!(
                f,
                "no valid response to CONNECT from the proxy {proxy}: check that an HTTP proxy \
                 without TLS listens there"
            ),
            Self::Timeout { proxy, after } => write!(
                f,
                "no connection through the proxy {proxy} within the connect timeout of {after:?}: \
                 check that the proxy can be reached, and the endpoint from there"
            ),
        }
    }
}

impl StdError for ProxyError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Unreachable { source, .. } | Self::NoResponse { source, .. } => Some(&**source),
            Self::Refused { .. } | Self::Timeout { .. } => None,
        }
    }
}
