//! What the frames of a streamed answer say.

use std::fmt;

use bytes::Bytes;
use serde::Deserialize;

use super::super::frames::Frame;
use super::super::invocation::decode_log;

/// What a frame says.
#[derive(Debug)]
pub(super) enum Event {
    /// Bytes of the answer.
    Chunk(Bytes),
    /// The function has ended.
    Complete(Complete),
    /// Lambda has given up.
    Exception(Exception),
    /// Something that this version does not know.
    Unknown,
}

/// How the function ended. Every member is optional
/// (<https://docs.aws.amazon.com/lambda/latest/api/API_InvokeWithResponseStreamCompleteEvent.html>).
#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Complete {
    pub(super) error_code: Option<String>,
    pub(super) error_details: Option<String>,
    log_result: Option<String>,
}

/// An error of Lambda.
#[derive(Debug, PartialEq)]
pub(super) struct Exception {
    pub(super) code: Option<String>,
    pub(super) message: Option<String>,
    pub(super) body: Bytes,
}

/// Why a frame says nothing.
#[derive(Debug)]
pub(super) enum EventError {
    /// Neither an event nor an error.
    MessageType(Option<String>),
    /// The end of the function cannot be read.
    Complete(serde_json::Error),
}

impl Event {
    pub(super) fn read(frame: Frame) -> Result<Self, EventError> {
        match frame.text(":message-type") {
            Some("event") => match frame.text(":event-type") {
                Some("PayloadChunk") => Ok(Self::Chunk(frame.payload)),
                Some("InvokeComplete") => Complete::read(&frame.payload).map(Self::Complete),
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
    fn read(payload: &[u8]) -> Result<Self, EventError> {
        if payload.is_empty() {
            // There is nothing to say, as in `{}`.
            return Ok(Self::default());
        }
        serde_json::from_slice(payload).map_err(EventError::Complete)
    }

    /// The end of the log.
    pub(super) fn log_tail(&self) -> Option<Bytes> {
        decode_log(self.log_result.as_ref()?.as_bytes())
    }
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MessageType(None) => f.write_str("event stream frame has no message type"),
            Self::MessageType(Some(found)) => {
                write!(f, "event stream frame has the message type {found:?}")
            }
            Self::Complete(_) => f.write_str("InvokeComplete event cannot be read"),
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

/// Services write the member either way.
fn message(payload: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Details {
        #[serde(alias = "Message")]
        message: Option<String>,
    }
    serde_json::from_slice::<Details>(payload).ok()?.message
}
