use std::fmt;

use http::HeaderName;

/// The reason why an option of a call cannot be written into a request.
#[derive(Debug)]
pub(super) enum InputError {
    /// The payload cannot be serialized.
    Json(serde_json::Error),
    /// The name of a header has characters that a name cannot have.
    HeaderName(http::Error),
    /// The value of a header has a control character.
    Header { name: HeaderName, source: http::Error },
    /// The client or its connection sets this header. There may be a setter.
    Reserved { name: HeaderName, setter: Option<&'static str> },
    /// The value of a header begins or ends with a space or a tab.
    Blank { name: HeaderName },
    /// The limit of the response is above the capacity of the memory budget.
    LimitOverBudget { limit: u64, capacity: u64 },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(_) => f.write_str("payload cannot be serialized as JSON"),
            Self::HeaderName(_) => f.write_str(
                "name of a header has characters that a name cannot have: use ASCII letters, \
                 digits and hyphens",
            ),
            Self::Header { name, .. } => {
                write!(
                    f,
                    "value of {name} has a control character, such as a line break: remove it"
                )
            }
            Self::Reserved { name, setter: None } => {
                write!(f, "header {name} is set by the client and cannot be replaced")
            }
            Self::Reserved { name, setter: Some(setter) } => {
                write!(f, "header {name} is set by the client: call {setter} instead")
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
            Self::HeaderName(source) | Self::Header { source, .. } => Some(source),
            Self::Reserved { .. } | Self::Blank { .. } | Self::LimitOverBudget { .. } => None,
        }
    }
}
