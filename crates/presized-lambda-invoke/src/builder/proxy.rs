use super::ClientBuilder;
use crate::proxy::ProxySetting;

impl ClientBuilder {
    /// Sets the HTTP proxy through which all connections are made, such as
    /// `http://user:password@proxy.example.com:3128`.
    ///
    /// [`build`](Self::build) parses the URL, and fails with [`Config`](crate::ErrorKind::Config) if
    /// it is invalid. The default port is 80. The user and the password are sent to the proxy by Basic
    /// authentication, and their special characters must be percent-encoded. A proxy over TLS or SOCKS
    /// is not supported.
    ///
    /// For an https endpoint the proxy opens a tunnel (`CONNECT`) for each connection, and TLS is
    /// between the client and the endpoint. For an http endpoint the proxy forwards the requests,
    /// which it can read, and each request makes a connection of its own.
    ///
    /// Without this setting and [`no_proxy`](Self::no_proxy), the
    /// [`environment`](Self::environment) decides if it is read. Its `NO_PROXY` has no effect on this
    /// setting.
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.proxy = ProxySetting::Url(url.into());
        self
    }

    /// Uses no proxy, even if the environment names one. The last of this and
    /// [`proxy`](Self::proxy) counts.
    pub fn no_proxy(mut self) -> Self {
        self.proxy = ProxySetting::Direct;
        self
    }
}
