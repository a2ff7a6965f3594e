//! The types of calls, and the length of their events.

use http::HeaderValue;
use presized_lambda_invoke::wire::{EVENT_MAX, Operation, REQUEST_MAX};

/// The type of a call, which the client sets by `X-Amz-Invocation-Type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallType {
    RequestResponse,
    Event,
    DryRun,
}

impl CallType {
    /// Reads the value of the header. A streamed response is not available for an event.
    pub(super) fn read(value: &HeaderValue, operation: Operation) -> Option<Self> {
        let call_type = [Self::RequestResponse, Self::Event, Self::DryRun]
            .into_iter()
            .find(|call_type| value == call_type.as_str())?;
        let streams = operation == Operation::InvokeWithResponseStream;
        Some(call_type).filter(|call_type| !(streams && *call_type == Self::Event))
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::RequestResponse => "RequestResponse",
            Self::Event => "Event",
            Self::DryRun => "DryRun",
        }
    }

    /// Returns the maximum length of the event in bytes.
    pub(super) fn event_max(self) -> u64 {
        match self {
            Self::RequestResponse | Self::DryRun => REQUEST_MAX,
            Self::Event => EVENT_MAX,
        }
    }
}
