use std::fmt;

use http::HeaderName;
use http::header::InvalidHeaderValue;

/// Why an option of a call cannot be written into a request.
#[derive(Debug)]
pub(super) enum InputError {
    /// The payload cannot be serialized.
    Json(serde_json::Error),
    /// The value of a header has characters that a header cannot carry.
    Header { name: HeaderName, source: InvalidHeaderValue },
    /// The value of a header begins or ends with a space or a tab.
    Blank { name: HeaderName },
    /// The limit of the response is above the capacity of the memory budget.
    LimitOverBudget { limit: u64, capacity: u64 },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(_) => f.write_str("payload cannot be serialized as JSON"),
            Self::Header { name, .. } => {
                write!(f, "value of {name} has characters that a header cannot carry")
            }
            Self::Blank { name } => {
                write!(f, "value of {name} must not begin or end with a space or a tab")
            }
            Self::LimitOverBudget { limit, capacity } => write!(
                f,
                "limit of {limit} bytes exceeds the memory budget of {capacity} bytes: lower the \
                 limit or raise the budget"
            ),
        }
    }
}

impl std::error::Error for InputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(source) => Some(source),
            Self::Header { source, .. } => Some(source),
            Self::Blank { .. } | Self::LimitOverBudget { .. } => None,
        }
    }
}
