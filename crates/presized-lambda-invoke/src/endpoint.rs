//! The endpoint of a client: which setting decides it, and its scheme, host and base path.
//!
//! It is pure: a function gives it the environment, and it makes no connection.

mod partition;
mod url;

use std::fmt;

use http::HeaderValue;
use http::uri::{Authority, Scheme};

use self::partition::Partition;
use self::url::UrlError;
pub(super) use self::url::port_of;
use super::environment::variable;

/// The settings that decide the endpoint, except the URLs in the environment.
///
/// The caller has already asked the environment for the region and the two flags, with [`region`],
/// [`fips`] and [`dual_stack`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EndpointSettings<'a> {
    /// The setting of the code that has an endpoint URL, and the URL.
    pub(super) endpoint: Option<(&'static str, &'a str)>,
    pub(super) region: Option<&'a str>,
    pub(super) fips: bool,
    pub(super) dual_stack: bool,
}

/// The scheme, the host and the base path of the service.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    scheme: Scheme,
    authority: Authority,
    host_header: HeaderValue,
    base_path: String,
}

impl Endpoint {
    /// Returns the endpoint that `settings` name, or else the environment, or else the region.
    ///
    /// An endpoint URL needs no region here, but a signature needs one.
    pub(super) fn resolve(
        settings: &EndpointSettings<'_>,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, EndpointError> {
        // First, because the region is part of every signature.
        if let Some(region) = settings.region.filter(|region| !is_host_label(region)) {
            return Err(EndpointError::Region(region.to_owned()));
        }
        let Some((setting, url)) = configured_url(settings.endpoint, lookup) else {
            let region = settings.region.ok_or(EndpointError::NoRegion)?;
            let host = Partition::of(region).host(region, settings.fips, settings.dual_stack);
            return Self::at(&format!("https://{host}"), "the region");
        };
        // The endpoint rules of Lambda refuse it too: a URL may lead to a host that is neither.
        if settings.fips {
            return Err(EndpointError::Fips { setting });
        }
        if settings.dual_stack {
            return Err(EndpointError::DualStack { setting });
        }
        Self::at(&url, setting)
    }

    pub(super) fn is_tls(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    pub(super) fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Returns the host, and the port if it is not the default port of the scheme.
    pub(super) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Returns the authority as the value of the header Host.
    pub(super) fn host_header(&self) -> &HeaderValue {
        &self.host_header
    }

    /// Returns the encoded path before the path of an operation. It is empty, or it begins with a
    /// slash and does not end with one.
    pub(super) fn base_path(&self) -> &str {
        &self.base_path
    }

    fn at(url: &str, setting: &'static str) -> Result<Self, EndpointError> {
        url::parse(url).map_err(|error| EndpointError::Url { setting, error })
    }
}

/// Returns the region that the environment names.
pub(super) fn region(lookup: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    variable(lookup, "AWS_REGION").or_else(|| variable(lookup, "AWS_DEFAULT_REGION"))
}

/// Returns the region of a pseudo region, such as `fips-us-gov-west-1` or `us-east-1-fips`, and
/// whether it is one. A pseudo region asks for the FIPS endpoint of its region, which is signed
/// for the region, as in the AWS SDKs.
pub(super) fn split_fips(region: String) -> (String, bool) {
    match region.strip_prefix("fips-").or_else(|| region.strip_suffix("-fips")) {
        Some(plain) => (plain.to_owned(), true),
        None => (region, false),
    }
}

/// Returns whether the environment asks for a FIPS endpoint.
pub(super) fn fips(lookup: &dyn Fn(&str) -> Option<String>) -> bool {
    is_true(lookup, "AWS_USE_FIPS_ENDPOINT")
}

/// Returns whether the environment asks for a dual-stack endpoint.
pub(super) fn dual_stack(lookup: &dyn Fn(&str) -> Option<String>) -> bool {
    is_true(lookup, "AWS_USE_DUALSTACK_ENDPOINT")
}

/// The reason why there is no endpoint.
///
/// It never shows a URL, because a refused URL may have a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EndpointError {
    NoRegion,
    Region(String),
    Url { setting: &'static str, error: UrlError },
    Fips { setting: &'static str },
    DualStack { setting: &'static str },
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRegion => f.write_str(
                "no region: call region(), or call environment() and set AWS_REGION or \
                 AWS_DEFAULT_REGION",
            ),
            Self::Region(region) => write!(
                f,
                "region {region:?} is invalid: it must have 1 to 63 ASCII letters, digits and \
                 hyphens, and no hyphen at either end"
            ),
            Self::Url { setting, .. } => write!(f, "endpoint URL of {setting} is invalid"),
            Self::Fips { setting } => write!(
                f,
                "endpoint URL of {setting} cannot be combined with fips(), \
                 AWS_USE_FIPS_ENDPOINT or a region named after FIPS: unset one of them"
            ),
            Self::DualStack { setting } => write!(
                f,
                "endpoint URL of {setting} cannot be combined with dual_stack() or \
                 AWS_USE_DUALSTACK_ENDPOINT: unset one of them"
            ),
        }
    }
}

impl std::error::Error for EndpointError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Url { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Returns the first setting that has an endpoint URL, and the URL.
fn configured_url(
    code: Option<(&'static str, &str)>,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Option<(&'static str, String)> {
    if let Some((setting, url)) = code {
        return Some((setting, url.to_owned()));
    }
    if is_true(lookup, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") {
        return None;
    }
    ["AWS_ENDPOINT_URL_LAMBDA", "AWS_ENDPOINT_URL"]
        .into_iter()
        .find_map(|name| variable(lookup, name).map(|url| (name, url)))
}

fn is_true(lookup: &dyn Fn(&str) -> Option<String>, name: &str) -> bool {
    variable(lookup, name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// Returns whether the text is one host label (RFC 1123, section 2.1). A label cannot lead to a host
/// of another domain.
fn is_host_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests;
