//! How long servers keep idle HTTP/1.1 connections, as they announce it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::header::HeaderName;
use http::{Response, Version};
use hyper_util::client::legacy::connect::{CaptureConnection, HttpInfo};

/// The connections of a pool whose server announces that it closes them before the pool does.
///
/// A load balancer can drop an idle connection without telling the client. A request on it then
/// fails after it was sent, and is not repeated.
#[derive(Debug)]
pub(super) struct KeepAlive {
    /// The time that the pool keeps idle connections.
    idle_timeout: Duration,
    /// By the local address, which no two open connections to one endpoint share.
    announced: Mutex<HashMap<SocketAddr, Announced>>,
}

#[derive(Debug)]
struct Announced {
    until: Instant,
    connection: CaptureConnection,
}

impl KeepAlive {
    pub(super) fn new(idle_timeout: Duration) -> Self {
        Self { idle_timeout, announced: Mutex::default() }
    }

    /// Records the time that a response announces for its connection.
    pub(super) fn record<B>(&self, response: &Response<B>, connection: &CaptureConnection) {
        // RFC 9113, section 8.2.2: HTTP/2 has no such header.
        if response.version() == Version::HTTP_2 {
            return;
        }
        let Some(value) = response.headers().get(KEEP_ALIVE) else { return };
        let Some(announced) = value.to_str().ok().and_then(timeout) else { return };
        let left = announced.saturating_sub(MARGIN);
        let address = response.extensions().get::<HttpInfo>().map(HttpInfo::local_addr);
        if let Some(address) = address.filter(|_| left < self.idle_timeout) {
            let announced =
                Announced { until: Instant::now() + left, connection: connection.clone() };
            self.lock().insert(address, announced);
        }
    }

    /// Takes the connections whose time is over out of the pool. It is called before each request,
    /// since the pool chooses a connection then.
    pub(super) fn retire(&self) {
        let mut announced = self.lock();
        if announced.is_empty() {
            return;
        }
        let now = Instant::now();
        announced.retain(|_, announced| {
            let is_kept = now < announced.until;
            if !is_kept && let Some(connection) = &*announced.connection.connection_metadata() {
                // A request that runs on it is not affected.
                connection.poison();
            }
            is_kept
        });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SocketAddr, Announced>> {
        // Each entry is replaced as a whole, so a panic cannot leave an incomplete one.
        self.announced.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the parameter `timeout` in seconds (RFC 2068, section 19.7.1.1). A number that does not
/// fit is longer than any idle timeout.
fn timeout(value: &str) -> Option<Duration> {
    let mut parameters = value.split(',').filter_map(|parameter| parameter.split_once('='));
    let (_, value) = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("timeout"))?;
    let value = value.trim().trim_matches('"');
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Duration::from_secs(value.parse().unwrap_or(u64::MAX)))
}

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

/// The time for a request to arrive before the server closes the connection, as in the agent of
/// Node.js.
const MARGIN: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeout_is_found_among_the_parameters() {
        for (value, expected) in [
            ("timeout=5", Some(5)),
            ("timeout=5, max=100", Some(5)),
            ("max=100 , Timeout = \"5\"", Some(5)),
            ("timeout=0", Some(0)),
            ("timeout=99999999999999999999", Some(u64::MAX)),
            ("timeout=-1", None),
            ("timeout=+1", None),
            ("timeout=", None),
            ("timeout", None),
            ("max=5", None),
            ("", None),
        ] {
            assert_eq!(timeout(value), expected.map(Duration::from_secs), "{value}");
        }
    }
}
