/// The version of HTTP that a client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpVersion {
    /// The version that the server prefers of HTTP/2 and HTTP/1.1, by ALPN. Without TLS it is
    /// HTTP/1.1.
    #[default]
    Negotiated,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2. Without TLS the connection starts with HTTP/2 ("prior knowledge").
    Http2,
}
