//! The events of a streamed response.

use std::fmt;

use bytes::Bytes;
use serde::Deserialize;

use super::super::event_frame::EventFrame;
use super::super::invocation::decode_log;

/// The event in a frame.
#[derive(Debug)]
pub(super) enum Event {
    /// Bytes of the response.
    Chunk(Bytes),
    /// The function has ended.
    Complete(Complete),
    /// Lambda has failed.
    Exception(Exception),
    /// An event that this version does not know.
    Unknown,
}

/// The `InvokeComplete` event. Every member is optional
/// (<https://docs.aws.amazon.com/lambda/latest/api/API_InvokeWithResponseStreamCompleteEvent.html>).
#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Complete {
    pub(super) error_code: Option<String>,
    pub(super) error_details: Option<String>,
    log_result: Option<String>,
}

/// An error of Lambda in the stream.
#[derive(Debug, PartialEq)]
pub(super) struct Exception {
    pub(super) code: Option<String>,
    pub(super) message: Option<String>,
    pub(super) body: Bytes,
}

/// Why a frame has no event.
#[derive(Debug)]
pub(super) enum EventError {
    /// The message type is neither an event nor an error.
    MessageType(Option<String>),
    /// The `InvokeComplete` event is not valid JSON.
    Complete(serde_json::Error),
}

impl Event {
    /// Parses the event in a frame.
    pub(super) fn parse(frame: EventFrame) -> Result<Self, EventError> {
        match frame.text(":message-type") {
            Some("event") => match frame.text(":event-type") {
                Some("PayloadChunk") => Ok(Self::Chunk(frame.payload)),
                Some("InvokeComplete") => Complete::parse(&frame.payload).map(Self::Complete),
                _ => Ok(Self::Unknown),
            },
            Some("exception") => Ok(Self::Exception(Exception {
                code: frame.text(":exception-type").map(str::to_owned),
                message: message(&frame.payload),
                body: frame.payload,
            })),
            Some("error") => Ok(Self::Exception(Exception {
                code: frame.text(":error-code").map(str::to_owned),
                message: frame.text(":error-message").map(str::to_owned),
                body: frame.payload,
            })),
            other => Err(EventError::MessageType(other.map(str::to_owned))),
        }
    }
}

impl Complete {
    fn parse(payload: &[u8]) -> Result<Self, EventError> {
        if payload.is_empty() {
            // It means the same as `{}`.
            return Ok(Self::default());
        }
        serde_json::from_slice(payload).map_err(EventError::Complete)
    }

    /// Returns the log tail.
    pub(super) fn log_tail(&self) -> Option<Bytes> {
        decode_log(self.log_result.as_ref()?.as_bytes())
    }
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MessageType(None) => f.write_str("event stream frame has no message type"),
            Self::MessageType(Some(found)) => {
                write!(f, "event stream frame has the unknown message type {found:?}")
            }
            Self::Complete(_) => f.write_str("InvokeComplete event is not valid JSON"),
        }
    }
}

impl std::error::Error for EventError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::MessageType(_) => None,
            Self::Complete(source) => Some(source),
        }
    }
}

/// Returns the member `message` or `Message`. Services write either, and some write both.
fn message(payload: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Details {
        message: Option<String>,
        #[serde(rename = "Message")]
        upper_message: Option<String>,
    }
    let details: Details = serde_json::from_slice(payload).ok()?;
    details.message.or(details.upper_message)
}
