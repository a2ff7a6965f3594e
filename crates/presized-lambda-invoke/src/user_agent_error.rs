use std::fmt;

use http::header::InvalidHeaderValue;

/// The error of a user agent that a header cannot carry.
#[derive(Debug)]
pub(super) struct UserAgentError(pub(super) InvalidHeaderValue);

impl fmt::Display for UserAgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("user agent has a control character, such as a line break: remove it")
    }
}

impl std::error::Error for UserAgentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}
