//! Where requests go: which of the settings decides, and the host and base path it gives.
//!
//! Pure: the environment comes in as a function, and nothing is resolved or connected to.

mod partition;
mod url;

use std::error::Error;
use std::fmt;

use http::HeaderValue;
use http::uri::{Authority, Scheme};

use self::partition::Partition;
use self::url::UrlError;

/// What decides the endpoint, beside the URLs in the environment.
///
/// The region and the two flags are what is left after the environment was asked for them, with
/// [`region`], [`fips`] and [`dual_stack`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settings<'a> {
    pub(super) endpoint: Option<&'a str>,
    pub(super) region: Option<&'a str>,
    pub(super) fips: bool,
    pub(super) dual_stack: bool,
}

/// Scheme, host and base path of the service.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    scheme: Scheme,
    authority: Authority,
    host_header: HeaderValue,
    base_path: String,
}

impl Endpoint {
    /// The endpoint of `settings`, else of the environment, else of the region.
    ///
    /// With a URL no region is needed here; a signature needs one all the same.
    pub(super) fn resolve(
        settings: &Settings<'_>,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, EndpointError> {
        // Before anything else, since a region goes into the scope of every signature too.
        if let Some(region) = settings.region.filter(|region| !is_host_label(region)) {
            return Err(EndpointError::Region(region.to_owned()));
        }
        let Some((source, url)) = configured_url(settings.endpoint, lookup) else {
            let region = settings.region.ok_or(EndpointError::NoRegion)?;
            let host = Partition::of(region).host(region, settings.fips, settings.dual_stack);
            return Self::at(&format!("https://{host}"), "the region");
        };
        // As the service's own rules have it: where a URL leads is not known to be either.
        if settings.fips {
            return Err(EndpointError::Fips { source });
        }
        if settings.dual_stack {
            return Err(EndpointError::DualStack { source });
        }
        Self::at(&url, source)
    }

    pub(super) fn is_tls(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    pub(super) fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Host, and port where it is not the default one of the scheme.
    pub(super) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The authority, as the value of Host.
    pub(super) fn host_header(&self) -> &HeaderValue {
        &self.host_header
    }

    /// The path that those of all operations are put after, encoded: empty, or a slash and
    /// segments, with none at the end.
    pub(super) fn base_path(&self) -> &str {
        &self.base_path
    }

    fn at(url: &str, source: &'static str) -> Result<Self, EndpointError> {
        url::parse(url).map_err(|error| EndpointError::Url { source, error })
    }
}

/// The region that the environment names.
pub(super) fn region(lookup: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    non_empty(lookup, "AWS_REGION").or_else(|| non_empty(lookup, "AWS_DEFAULT_REGION"))
}

/// Whether the environment asks for a FIPS endpoint.
pub(super) fn fips(lookup: &dyn Fn(&str) -> Option<String>) -> bool {
    is_true(lookup, "AWS_USE_FIPS_ENDPOINT")
}

/// Whether the environment asks for a dual stack endpoint.
pub(super) fn dual_stack(lookup: &dyn Fn(&str) -> Option<String>) -> bool {
    is_true(lookup, "AWS_USE_DUALSTACK_ENDPOINT")
}

/// Why there is no endpoint, and what to set.
///
/// A URL is never part of it, since one that is refused may hold a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EndpointError {
    NoRegion,
    Region(String),
    Url { source: &'static str, error: UrlError },
    Fips { source: &'static str },
    DualStack { source: &'static str },
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRegion => f.write_str(
                "no region: call region() of the builder, or set AWS_REGION or AWS_DEFAULT_REGION \
                 and build from the environment",
            ),
            Self::Region(region) => write!(
                f,
                "{region:?} is not a region: it must be 1 to 63 ASCII letters, digits and \
                 hyphens, with no hyphen at either end"
            ),
            Self::Url { source, error } => write!(f, "the endpoint URL of {source} {error}"),
            Self::Fips { source } => write!(
                f,
                "an endpoint URL (of {source}) and FIPS (of fips() or AWS_USE_FIPS_ENDPOINT) \
                 exclude each other: unset one of them"
            ),
            Self::DualStack { source } => write!(
                f,
                "an endpoint URL (of {source}) and dual stack (of dual_stack() or \
                 AWS_USE_DUALSTACK_ENDPOINT) exclude each other: unset one of them"
            ),
        }
    }
}

impl Error for EndpointError {}

/// The URL that is set in the first of the places where one can be, and that place.
fn configured_url(
    code: Option<&str>,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Option<(&'static str, String)> {
    if let Some(url) = code {
        return Some(("endpoint()", url.to_owned()));
    }
    if is_true(lookup, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") {
        return None;
    }
    ["AWS_ENDPOINT_URL_LAMBDA", "AWS_ENDPOINT_URL"]
        .into_iter()
        .find_map(|name| non_empty(lookup, name).map(|url| (name, url)))
}

fn is_true(lookup: &dyn Fn(&str) -> Option<String>, name: &str) -> bool {
    lookup(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// An empty variable is one that is not set: shells and container specifications have no better
/// way to take one away.
fn non_empty(lookup: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    lookup(name).filter(|value| !value.trim().is_empty())
}

/// RFC 1123 §2.1. Nothing that is one can lead to a host of another domain.
fn is_host_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests;
