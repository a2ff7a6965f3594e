/// The reason why there was no connection for a request: see
/// [`Error::connect_kind`](super::Error::connect_kind).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectErrorKind {
    /// The name of the host could not be looked up. The region or the endpoint URL may be wrong, or
    /// the resolver may be down. It is transient, because the system does not tell which.
    Dns,
    /// The host refused the connection. No server listens at the port.
    Refused,
    /// There is no route to the host.
    Unreachable,
    /// The [connect timeout](super::ClientBuilder::connect_timeout) passed.
    Timeout,
    /// The TLS handshake failed. It is not transient if the certificate of the server is invalid or
    /// not trusted, or if the server does not speak TLS or does not agree to HTTP/2.
    Tls,
    /// The [proxy](super::ClientBuilder::proxy) failed, or did not connect to the endpoint. It is not
    /// transient if the proxy refused with a status 4xx, except 408 and 429.
    Proxy,
    /// The connection was closed before the request was sent, or the server reported that it had not
    /// processed the request (HTTP/2).
    Closed,
    /// Another error of the network or of the system.
    Other,
}
