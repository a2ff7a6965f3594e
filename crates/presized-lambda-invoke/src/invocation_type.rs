use super::wire;

/// How Lambda handles an invocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvocationType {
    /// Runs the function and waits for its response.
    #[default]
    RequestResponse,
    /// Queues the event and returns at once.
    Event,
    /// Checks the parameters and the permission of the caller, and runs nothing.
    DryRun,
}

impl InvocationType {
    /// Returns the value of the header [`wire::INVOCATION_TYPE`].
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RequestResponse => "RequestResponse",
            Self::Event => "Event",
            Self::DryRun => "DryRun",
        }
    }

    /// Returns the longest payload that Lambda accepts, in bytes.
    pub const fn payload_max(self) -> u64 {
        match self {
            Self::RequestResponse | Self::DryRun => wire::REQUEST_MAX,
            Self::Event => wire::EVENT_MAX,
        }
    }
}
