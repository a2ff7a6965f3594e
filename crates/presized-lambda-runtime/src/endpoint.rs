//! The endpoint of the Runtime API.

use std::fmt;
use std::str::FromStr;

use http::header::HeaderValue;
use http::uri::{Scheme, Uri};

/// The host, the port and the base path of the Runtime API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// The host and the port to connect to. An IPv6 address is in brackets.
    pub(super) address: String,
    /// The host and the port as they were given.
    pub(super) host_header: HeaderValue,
    /// The path before all routes, without a slash at its end.
    pub(super) base_path: String,
}

/// The reason why a string is not an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndpointError {
    Syntax,
    Scheme,
    UserInfo,
    Port,
    Query,
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        // `Uri` removes a fragment without an error.
        if text.contains(['?', '#']) {
            return Err(EndpointError::Query);
        }
        let uri =
            if text.contains("://") { text.parse() } else { format!("http://{text}").parse() };
        let uri: Uri = uri.map_err(|_| EndpointError::Syntax)?;
        if uri.scheme() != Some(&Scheme::HTTP) {
            return Err(EndpointError::Scheme);
        }
        let authority = uri.authority().ok_or(EndpointError::Syntax)?;
        if authority.as_str().contains('@') {
            return Err(EndpointError::UserInfo);
        }
        let host = authority.host();
        if host.is_empty() {
            return Err(EndpointError::Syntax);
        }
        let port = match authority.as_str()[host.len()..].strip_prefix(':') {
            None | Some("") => 80,
            Some(_) => authority.port_u16().ok_or(EndpointError::Port)?,
        };
        Ok(Self {
            address: format!("{host}:{port}"),
            host_header: HeaderValue::try_from(authority.as_str())
                .map_err(|_| EndpointError::Syntax)?,
            base_path: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "endpoint must be host:port or http://host:port/path",
            Self::Scheme => "scheme of the endpoint must be http",
            Self::UserInfo => "endpoint must not contain a user",
            Self::Port => "port of the endpoint must be a number up to 65535",
            Self::Query => "endpoint must not contain a query or a fragment",
        })
    }
}

impl std::error::Error for EndpointError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_is_parsed_with_and_without_scheme_and_path() {
        let table = [
            ("127.0.0.1:9001", "127.0.0.1:9001", ""),
            ("localhost:9001", "localhost:9001", ""),
            ("sandbox.localdomain", "sandbox.localdomain:80", ""),
            ("[::1]:9001", "[::1]:9001", ""),
            ("http://127.0.0.1:9001", "127.0.0.1:9001", ""),
            ("http://127.0.0.1:9001/", "127.0.0.1:9001", ""),
            ("HTTP://127.0.0.1:9001/.rt", "127.0.0.1:9001", "/.rt"),
            ("127.0.0.1:9001/a/b/", "127.0.0.1:9001", "/a/b"),
        ];
        for (text, address, base_path) in table {
            let endpoint: Endpoint = text.parse().expect(text);
            assert_eq!((&*endpoint.address, &*endpoint.base_path), (address, base_path), "{text}");
        }
    }

    #[test]
    fn invalid_endpoint_is_refused_with_its_reason() {
        let table = [
            ("", EndpointError::Syntax),
            ("a b", EndpointError::Syntax),
            (":9001", EndpointError::Syntax),
            ("/path", EndpointError::Syntax),
            ("https://127.0.0.1:9001", EndpointError::Scheme),
            ("user@127.0.0.1:9001", EndpointError::UserInfo),
            ("127.0.0.1:65536", EndpointError::Port),
            ("127.0.0.1:9001/?a", EndpointError::Query),
            ("127.0.0.1:9001#a", EndpointError::Query),
        ];
        for (text, expected) in table {
            assert_eq!(text.parse::<Endpoint>(), Err(expected), "{text}");
        }
    }
}
