//! An endpoint from a URL, which is held to what an endpoint can be.

use std::fmt;

use http::HeaderValue;
use http::uri::{Authority, Scheme, Uri};
use percent_encoding::percent_decode_str;

use super::Endpoint;

pub(super) fn parse(url: &str) -> Result<Endpoint, UrlError> {
    // `Uri` drops a fragment in silence.
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

/// Why a URL is not an endpoint.
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
    /// What follows "the endpoint URL".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "is not a URL: it must look like https://host:port/path",
            Self::Scheme => "must begin with http:// or https://",
            Self::UserInfo => {
                "must have no user or password in it: credentials are set by themselves"
            }
            Self::Host => "has no host",
            Self::Port => "has a port that is not a number up to 65535",
            Self::Query => "must have no query and no fragment",
            Self::EmptySegment => "must have no empty segment (//) in its path",
            Self::DotSegment => "must have no `.` or `..` segment in its path",
            Self::PathCharacter => {
                "has a character in its path that must be percent-encoded, or a % that begins none"
            }
        })
    }
}

/// RFC 9110 §4.2.1 and §7.2: the port goes into Host only where it is not the default, and an
/// empty one is the default.
fn without_default_port(authority: &Authority, scheme: &Scheme) -> Result<Authority, UrlError> {
    if authority.as_str().contains('@') {
        return Err(UrlError::UserInfo);
    }
    let host = authority.host();
    if host.is_empty() {
        return Err(UrlError::Host);
    }
    let default = if *scheme == Scheme::HTTPS { 443 } else { 80 };
    let port = match authority.as_str()[host.len()..].strip_prefix(':') {
        None | Some("") => default,
        // `parse` alone would take a sign.
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse::<u16>().map_err(|_| UrlError::Port)?
        }
        Some(_) => return Err(UrlError::Port),
    };
    let authority = if port == default { host.to_owned() } else { format!("{host}:{port}") };
    authority.try_into().map_err(|_| UrlError::Syntax)
}

/// Holds a path to RFC 3986 §3.3, and to segments that nobody on the way takes out or joins: the
/// signature is made over the path as it is here.
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
        // Servers that decode before they take dots out know `%2e` for one.
        if matches!(&*percent_decode_str(segment).decode_utf8_lossy(), "." | "..") {
            return Err(UrlError::DotSegment);
        }
    }
    Ok(())
}
