//! The URI of a request.

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, Uri};

use super::HttpSource;
use super::event::Event;
use super::query::{is_path, push, push_query};
use crate::ErrorReport;
use crate::json::UNMARSHAL;

/// The part that the stage of an API has in the paths of requests.
///
/// Requests to an address such as `https://id.execute-api.eu-central-1.amazonaws.com/prod/cats` have
/// the stage `prod` in front of the path `/cats`. API Gateway removes it from the events of a REST
/// API. It does not remove it from those of an HTTP API, unless the stage is `$default`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StagePath {
    /// The path does not begin with the stage, so that one router serves all stages.
    ///
    /// It is removed from the events of an HTTP API. The path below a custom domain is not changed.
    #[default]
    Removed,
    /// The path is that of the event. `lambda_http` does this if
    /// `AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH` is set.
    AsSent,
    /// The path begins with the stage, unless it is `$default`. This is the default of `lambda_http`.
    Added,
}

/// Returns the URI of an event. It is absolute if the event has a valid host.
///
/// # Errors
///
/// Returns a report if the URI is longer than 65,534 bytes.
pub(super) fn of_event(
    event: &Event<'_>,
    source: HttpSource,
    headers: &HeaderMap,
    stage_path: StagePath,
) -> Result<Uri, ErrorReport> {
    let path = event.raw_path.as_deref().or(event.path.as_deref()).unwrap_or_default();
    let (stage, path) = staged(event, source, path, stage_path);
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or(event.request_context.domain_name.as_deref());
    let mut uri = String::with_capacity(path.len() + EXPECTED);
    if let Some(host) = host.filter(|host| is_host(host)) {
        let is_plain = headers.get(X_FORWARDED_PROTO).is_some_and(|scheme| scheme == "http");
        uri.push_str(if is_plain { "http://" } else { "https://" });
        uri.push_str(host);
    }
    let path_start = uri.len();
    if let Some(stage) = stage {
        uri.push('/');
        push(&mut uri, stage, is_path);
    }
    if !path.starts_with('/') && (stage.is_none() || !path.is_empty()) {
        uri.push('/');
    }
    push(&mut uri, path, is_path);
    push_query(&mut uri, event, source);
    let uri = Bytes::from(uri);
    // A host may be wrong in a way that only the parser knows.
    Uri::from_maybe_shared(uri.clone())
        .or_else(|_| Uri::from_maybe_shared(uri.slice(path_start..)))
        .map_err(|error| ErrorReport::from_dyn(UNMARSHAL, &error))
}

/// Returns the stage to add, and the path after it.
fn staged<'e>(
    event: &'e Event<'_>,
    source: HttpSource,
    path: &'e str,
    stage_path: StagePath,
) -> (Option<&'e str>, &'e str) {
    let context = &event.request_context;
    let stage = context.stage.as_deref().filter(|stage| !stage.is_empty() && *stage != "$default");
    let Some(stage) = stage.filter(|_| source != HttpSource::LoadBalancer) else {
        return (None, path);
    };
    let below = path.strip_prefix('/').and_then(|path| path.strip_prefix(stage));
    let below = below.filter(|below| below.is_empty() || below.starts_with('/'));
    match (stage_path, below) {
        // Among the formats of API Gateway, only the one of REST APIs has no version.
        (StagePath::Removed, Some(below)) if event.version.is_some() => {
            // Below a custom domain, this is not the stage.
            match (&context.api_id, &context.domain_prefix) {
                (Some(id), Some(prefix)) if **id != **prefix => (None, path),
                _ => (None, below),
            }
        }
        // As `lambda_http`, which adds it to the path of the stage itself.
        (StagePath::Added, Some("") | None) => (Some(stage), path),
        _ => (None, path),
    }
}

/// Returns whether a host is a name or an address, with or without a port. The client can choose it, and
/// it must not begin another part of the URI.
fn is_host(host: &str) -> bool {
    let (name, rest) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((address, rest)) => (address, rest),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_address = host.starts_with('[');
    let is_allowed = |byte: u8| match byte {
        b':' => is_address,
        b'-' | b'.' | b'_' => true,
        _ => byte.is_ascii_alphanumeric(),
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    !name.is_empty()
        && name.bytes().all(is_allowed)
        && (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
}

const X_FORWARDED_PROTO: &str = "x-forwarded-proto";

/// The length of a typical URI without its path.
const EXPECTED: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_a_name_or_an_address_with_or_without_a_port() {
        let hosts = ["a.example", "a_b-c.example:8080", "192.0.2.1", "[2001:db8::1]", "[::1]:80"];
        for host in hosts {
            assert!(is_host(host), "{host}");
        }
        let others = [
            "", ":80", "a:", "a:b", "a:1:2", "a/b", "a?b", "a#b", "a@b", "a b", "[", "[]", "[::1",
            "[::1]a", "a]", "a%41", "\u{e9}",
        ];
        for host in others {
            assert!(!is_host(host), "{host}");
        }
    }
}
