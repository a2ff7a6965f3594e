//! The HTTP proxy of a client: which setting decides it, and its address and credentials.
//!
//! It is pure: a function gives it the environment. [`Dialer`] makes the connections.

mod dialer;
mod error;
mod tunnel;

use std::fmt;
use std::sync::Arc;

use http::uri::{Authority, Scheme};
use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use percent_encoding::percent_decode_str;

pub(super) use self::dialer::{Dialed, Dialer};
pub(super) use self::error::ProxyError;
use super::HttpVersion;
use super::endpoint::{Endpoint, port_of};
use super::environment::variable;

/// The setting that decides the proxy.
#[derive(Clone, Default)]
pub(super) enum ProxySetting {
    /// The environment decides, if it is read.
    #[default]
    Environment,
    /// There is no proxy.
    Direct,
    /// All connections go through the proxy at this URL.
    Url(String),
}

impl ProxySetting {
    /// Returns the proxy for connections to `endpoint`.
    pub(super) fn resolve(
        &self,
        endpoint: &Endpoint,
        version: HttpVersion,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Proxy>, ProxySettingError> {
        let (setting, url) = match self {
            Self::Direct => return Ok(None),
            Self::Url(url) => ("proxy()", url.clone()),
            Self::Environment => match from_env(endpoint, lookup) {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        let invalid = |error| ProxySettingError { setting, error };
        if !endpoint.is_tls() && version == HttpVersion::Http2 {
            return Err(invalid(ProxyUrlError::PlainHttp2));
        }
        Proxy::parse(&url).map(Some).map_err(invalid)
    }
}

/// A proxy. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Proxy(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// With scheme, host and port only.
    uri: Uri,
    /// Basic credentials. It is sensitive, so that `Debug` does not show it.
    authorization: Option<HeaderValue>,
}

impl Proxy {
    /// Returns the URL of the proxy without credentials.
    fn uri(&self) -> &Uri {
        &self.0.uri
    }

    /// Returns the value of the header Proxy-Authorization.
    pub(super) fn authorization(&self) -> Option<&HeaderValue> {
        self.0.authorization.as_ref()
    }

    fn parse(url: &str) -> Result<Self, ProxyUrlError> {
        // `Uri` drops a fragment without an error, and `Matcher` a path. They may be the rest of a
        // password, which begins with a character that must be encoded.
        if url.contains(['?', '#']) {
            return Err(ProxyUrlError::Syntax);
        }
        let uri: Uri = url.parse().map_err(|_| ProxyUrlError::Syntax)?;
        if uri.scheme().is_some_and(|scheme| *scheme != Scheme::HTTP) {
            return Err(ProxyUrlError::Scheme);
        }
        if !matches!(uri.path(), "" | "/") {
            return Err(ProxyUrlError::Syntax);
        }
        let matcher = Matcher::builder().all(url).build();
        let found = matcher.intercept(&Uri::from_static("http://any.invalid"));
        let found = found.ok_or(ProxyUrlError::Syntax)?;
        // `Matcher` would send U+FFFD instead of any other bytes.
        let with_user = uri.authority().map_or("", Authority::as_str);
        if percent_decode_str(with_user).decode_utf8().is_err() {
            return Err(ProxyUrlError::Syntax);
        }
        let authority = found.uri().authority().ok_or(ProxyUrlError::Syntax)?;
        let port = port_of(authority, 80).map_err(|_| ProxyUrlError::Syntax)?;
        let uri = format!("http://{}:{port}", authority.host());
        let mut authorization = found.basic_auth().cloned();
        if let Some(value) = &mut authorization {
            value.set_sensitive(true);
        }
        let uri = uri.parse().map_err(|_| ProxyUrlError::Syntax)?;
        Ok(Self(Arc::new(Inner { uri, authorization })))
    }
}

/// The host and the port, without credentials.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.uri.authority() {
            Some(authority) => authority.fmt(f),
            None => Ok(()),
        }
    }
}

/// The reason why a proxy cannot be used.
///
/// It never shows a URL, because it may have a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProxySettingError {
    setting: &'static str,
    error: ProxyUrlError,
}

impl fmt::Display for ProxySettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "proxy of {} cannot be used", self.setting)
    }
}

impl std::error::Error for ProxySettingError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProxyUrlError {
    Syntax,
    Scheme,
    PlainHttp2,
}

impl fmt::Display for ProxyUrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => {
                "URL must look like http://user:password@host:port, and special characters of the \
                 user and the password must be percent-encoded in UTF-8"
            }
            Self::Scheme => {
                "URL must begin with http://, because a proxy over TLS or SOCKS is not supported"
            }
            Self::PlainHttp2 => {
                "HTTP/2 without TLS cannot pass an HTTP proxy: use an https endpoint or another \
                 http_version(), or exclude the endpoint by no_proxy() or NO_PROXY"
            }
        })
    }
}

impl std::error::Error for ProxyUrlError {}

/// Returns the variable that names the proxy for `endpoint`, and its value, unless NO_PROXY
/// excludes the endpoint.
fn from_env(
    endpoint: &Endpoint,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Option<(&'static str, String)> {
    let first = |names: &[&'static str]| {
        names.iter().find_map(|name| Some((*name, variable(lookup, name)?)))
    };
    let of_scheme = if endpoint.is_tls() {
        first(&["HTTPS_PROXY", "https_proxy"])
    } else if lookup("REQUEST_METHOD").is_none() {
        first(&["HTTP_PROXY", "http_proxy"])
    } else {
        // In CGI the header `Proxy` of a request becomes HTTP_PROXY (CVE-2016-5385). On Windows
        // both spellings are one variable.
        None
    };
    let found = of_scheme.or_else(|| first(&["ALL_PROXY", "all_proxy"]))?;
    let (_, excluded) = first(&["NO_PROXY", "no_proxy"]).unwrap_or_default();
    let default_port = if endpoint.is_tls() { 443 } else { 80 };
    let port = port_of(endpoint.authority(), default_port).ok()?;
    let excluded: Vec<_> = excluded
        .split(|separator: char| separator == ',' || separator.is_whitespace())
        .filter_map(|entry| excluded_host(entry, port))
        .collect();
    let matcher = Matcher::builder().all("http://any.invalid").no(excluded.join(",")).build();
    let uri = Uri::builder()
        .scheme(endpoint.scheme().clone())
        .authority(endpoint.authority().clone())
        .path_and_query("/")
        .build();
    matcher.intercept(&uri.ok()?).map(|_| found)
}

/// Returns the host of an entry of NO_PROXY, as [`Matcher`] expects it, or `None` if the entry is for
/// another port.
///
/// [`Matcher`] does not know ports, brackets, `*.` and a dot at the end, which other clients accept.
fn excluded_host(entry: &str, port: u16) -> Option<&str> {
    let host = match entry.rsplit_once(':') {
        // An IPv6 address has a port only after brackets.
        Some((host, digits)) if !host.contains(':') || host.ends_with(']') => {
            if digits.parse() != Ok(port) {
                return None;
            }
            host
        }
        _ => entry,
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host = address.unwrap_or(host);
    let domain = host.strip_prefix('*').filter(|domain| domain.starts_with('.'));
    Some(domain.unwrap_or(host).trim_end_matches('.'))
}

#[cfg(test)]
mod tests;
