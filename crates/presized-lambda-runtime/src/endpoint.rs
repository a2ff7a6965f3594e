//! Where the Runtime API is.

use std::fmt;
use std::str::FromStr;

use http::header::HeaderValue;
use http::uri::{Scheme, Uri};

/// A host, a port, and the path under which the API is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Host and port to connect to; the host in brackets, where it is an IPv6 address.
    pub(super) address: String,
    /// The same, as the endpoint was given.
    pub(super) host_header: HeaderValue,
    /// What the paths of all requests begin with, without a slash at its end.
    pub(super) base_path: String,
}

/// Why a text is not an endpoint.
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
        // `Uri` drops a fragment in silence.
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
            Self::Syntax => "the endpoint must look like host:port or http://host:port/path",
            Self::Scheme => "the endpoint must begin with http://, if with a scheme at all",
            Self::UserInfo => "the endpoint must have no user in it",
            Self::Port => "the port of the endpoint is not a number up to 65535",
            Self::Query => "the endpoint must have no query and no fragment",
        })
    }
}

impl std::error::Error for EndpointError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_has_a_scheme_and_a_path_or_neither() {
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
    fn what_is_no_endpoint_is_refused() {
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
