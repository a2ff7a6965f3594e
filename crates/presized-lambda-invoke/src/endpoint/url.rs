//! The parser of endpoint URLs.

use std::fmt;

use http::HeaderValue;
use http::uri::{Authority, Scheme, Uri};
use percent_encoding::percent_decode_str;

use super::Endpoint;

/// Parses an endpoint from its URL.
pub(super) fn parse(url: &str) -> Result<Endpoint, UrlError> {
    // `Uri` drops a fragment without an error.
    if url.contains(['?', '#']) {
        return Err(UrlError::Query);
    }
    let uri: Uri = url.parse().map_err(|_| UrlError::Syntax)?;
    let scheme = uri
        .scheme()
        .filter(|&scheme| *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS)
        .ok_or(UrlError::Scheme)?;
    let authority = uri.authority().ok_or(UrlError::Host)?;
    let authority = without_default_port(authority, scheme)?;
    let host_header = HeaderValue::try_from(authority.as_str()).map_err(|_| UrlError::Syntax)?;
    let base_path = uri.path().trim_end_matches('/');
    check_path(base_path)?;
    Ok(Endpoint { scheme: scheme.clone(), authority, host_header, base_path: base_path.to_owned() })
}

/// The reason why a URL cannot be an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UrlError {
    Syntax,
    Scheme,
    UserInfo,
    Host,
    Port,
    Query,
    EmptySegment,
    DotSegment,
    PathCharacter,
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "URL must look like https://host:port/path",
            Self::Scheme => "URL must begin with http:// or https://",
            Self::UserInfo => {
                "URL must not have a user or a password: call credentials() to set credentials"
            }
            Self::Host => "URL has no host",
            Self::Port => "port must be a number up to 65535",
            Self::Query => "URL must not have a query or a fragment",
            Self::EmptySegment => "path must not have an empty segment (//)",
            Self::DotSegment => "path must not have a segment `.` or `..`",
            Self::PathCharacter => {
                "path has a character that must be percent-encoded, or a % without two hex digits"
            }
        })
    }
}

impl std::error::Error for UrlError {}

/// Removes the port if it is the default port of the scheme, or empty (RFC 9110, sections 4.2.1 and
/// 7.2).
fn without_default_port(authority: &Authority, scheme: &Scheme) -> Result<Authority, UrlError> {
    let default = if *scheme == Scheme::HTTPS { 443 } else { 80 };
    let port = port_of(authority, default)?;
    let host = authority.host();
    let authority = if port == default { host.to_owned() } else { format!("{host}:{port}") };
    authority.try_into().map_err(|_| UrlError::Syntax)
}

/// Returns the port, or `default` if the URL has none or an empty one.
pub(crate) fn port_of(authority: &Authority, default: u16) -> Result<u16, UrlError> {
    if authority.as_str().contains('@') {
        return Err(UrlError::UserInfo);
    }
    let host = authority.host();
    if host.is_empty() {
        return Err(UrlError::Host);
    }
    match authority.as_str()[host.len()..].strip_prefix(':') {
        None | Some("") => Ok(default),
        // `parse` alone would accept a sign.
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().map_err(|_| UrlError::Port)
        }
        Some(_) => Err(UrlError::Port),
    }
}

/// Checks that a path is valid (RFC 3986, section 3.3) and has no segment that a proxy may remove.
/// The signature covers the path as it is here.
fn check_path(path: &str) -> Result<(), UrlError> {
    for segment in path.split('/').skip(1) {
        if segment.is_empty() {
            return Err(UrlError::EmptySegment);
        }
        let mut rest = segment.bytes();
        while let Some(byte) = rest.next() {
            let allowed = match byte {
                b'%' => {
                    let is_digit = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_hexdigit());
                    is_digit(rest.next()) && is_digit(rest.next())
                }
                _ => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte),
            };
            if !allowed {
                return Err(UrlError::PathCharacter);
            }
        }
        // Some servers decode `%2e` before they remove dot segments.
        if matches!(&*percent_decode_str(segment).decode_utf8_lossy(), "." | "..") {
            return Err(UrlError::DotSegment);
        }
    }
    Ok(())
}
