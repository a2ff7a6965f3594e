//! What a runtime may do next: pure.
//!
//! The order of things is that of AWS's own emulator, in which both modes can be tried out
//! (<https://github.com/aws/aws-lambda-runtime-interface-emulator>).

use std::fmt;

use http::{HeaderValue, StatusCode};
use serde_json::json;

/// How many events a runtime gets at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// One after the other.
    Classic,
    /// One for each time it has asked.
    Concurrent,
}

/// What is known of the invocation that a runtime wants to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Nothing,
    /// It waits for its answer.
    Running,
    /// Its answer is being read.
    Answering,
    Answered,
    TimedOut,
    /// It runs, but under another `Invocation-Id`: the answer is that of an earlier attempt.
    Another,
}

/// How an answer is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseMode {
    Buffered,
    Streaming,
}

/// Why a request of a runtime is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    NotFound,
    InvalidRequestId,
    InvalidStateTransition { from: &'static str, to: &'static str },
    InvalidFunctionResponseMode,
    InvokeTimeout,
    RequestEntityTooLarge { limit: u64 },
    TruncatedRequest,
    Internal,
}

/// Whether a runtime that is at work on `running` events may ask for one.
pub(super) fn may_poll(mode: Mode, running: usize) -> Result<(), Refusal> {
    match mode {
        Mode::Classic if running > 0 => {
            Err(Refusal::InvalidStateTransition { from: "Running", to: "Ready" })
        }
        Mode::Classic | Mode::Concurrent => Ok(()),
    }
}

/// Whether an answer to an invocation may come now.
pub(super) fn may_answer(mode: Mode, known: Known) -> Result<(), Refusal> {
    match (known, mode) {
        (Known::Running, _) => Ok(()),
        (Known::Nothing, _) | (Known::Answering | Known::Answered, Mode::Concurrent) => {
            Err(Refusal::InvalidRequestId)
        }
        (Known::Answering, Mode::Classic) => Err(Refusal::InvalidStateTransition {
            from: "InvocationResponse",
            to: "InvocationResponse",
        }),
        (Known::Answered, Mode::Classic) => {
            Err(Refusal::InvalidStateTransition { from: "ResponseSent", to: "InvocationResponse" })
        }
        (Known::TimedOut | Known::Another, _) => Err(Refusal::InvokeTimeout),
    }
}

/// Whether a runtime may still say that it could not start.
pub(super) fn may_fail_init(initialised: bool) -> Result<(), Refusal> {
    if initialised {
        return Err(Refusal::InvalidStateTransition { from: "Ready", to: "InitError" });
    }
    Ok(())
}

/// Whether a runtime may still be restored from a snapshot.
pub(super) fn may_restore(initialised: bool) -> Result<(), Refusal> {
    if initialised {
        return Err(Refusal::InvalidStateTransition { from: "Ready", to: "RestoreReady" });
    }
    Ok(())
}

/// What `Lambda-Runtime-Function-Response-Mode` says. An empty value counts as none.
pub(super) fn response_mode(header: Option<&HeaderValue>) -> Result<ResponseMode, Refusal> {
    match header.map(HeaderValue::as_bytes) {
        None | Some(b"") => Ok(ResponseMode::Buffered),
        Some(b"streaming") => Ok(ResponseMode::Streaming),
        Some(_) => Err(Refusal::InvalidFunctionResponseMode),
    }
}

impl Refusal {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::InvalidRequestId | Self::InvalidFunctionResponseMode | Self::TruncatedRequest => {
                StatusCode::BAD_REQUEST
            }
            Self::InvalidStateTransition { .. } => StatusCode::FORBIDDEN,
            Self::InvokeTimeout => StatusCode::GONE,
            Self::RequestEntityTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// What the body of the answer is.
    pub(super) fn json(self) -> String {
        let error_type = match self {
            Self::NotFound => "NotFound",
            Self::InvalidRequestId => "InvalidRequestID",
            Self::InvalidStateTransition { .. } => "InvalidStateTransition",
            Self::InvalidFunctionResponseMode => "InvalidFunctionResponseMode",
            Self::InvokeTimeout => "InvokeTimeout",
            Self::RequestEntityTooLarge { .. } => "RequestEntityTooLarge",
            Self::TruncatedRequest => "TruncatedHTTPRequest",
            Self::Internal => "InternalServerError",
        };
        json!({ "errorMessage": self.to_string(), "errorType": error_type }).to_string()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("No such path"),
            Self::InvalidRequestId => f.write_str("Invalid request ID"),
            Self::InvalidStateTransition { from, to } => write!(
                f,
                "State transition from {from} to {to} failed for runtime. \
                 Error: State transition is not allowed"
            ),
            Self::InvalidFunctionResponseMode => f.write_str("Invalid function response mode"),
            Self::InvokeTimeout => f.write_str("Invoke timeout"),
            Self::RequestEntityTooLarge { limit } => {
                write!(f, "Exceeded maximum allowed payload size ({limit} bytes).")
            }
            Self::TruncatedRequest => f.write_str("HTTP request detected as truncated"),
            Self::Internal => f.write_str("Internal Server Error"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_running_invocation_is_answered() {
        use Known::*;
        use Mode::*;
        for (mode, known, status) in [
            (Classic, Running, None),
            (Classic, Nothing, Some(400)),
            (Classic, Answering, Some(403)),
            (Classic, Answered, Some(403)),
            (Classic, TimedOut, Some(410)),
            (Classic, Another, Some(410)),
            (Concurrent, Running, None),
            (Concurrent, Nothing, Some(400)),
            (Concurrent, Answering, Some(400)),
            (Concurrent, Answered, Some(400)),
            (Concurrent, TimedOut, Some(410)),
            (Concurrent, Another, Some(410)),
        ] {
            let found = may_answer(mode, known).err().map(|refusal| refusal.status().as_u16());
            assert_eq!(found, status, "{mode:?} {known:?}");
        }
    }

    #[test]
    fn one_event_at_a_time_unless_concurrent() {
        for (mode, running, allowed) in [
            (Mode::Classic, 0, true),
            (Mode::Classic, 1, false),
            (Mode::Concurrent, 0, true),
            (Mode::Concurrent, 100, true),
        ] {
            assert_eq!(may_poll(mode, running).is_ok(), allowed, "{mode:?} {running}");
        }
    }

    #[test]
    fn a_start_fails_or_is_restored_before_the_first_event_only() {
        for (initialised, allowed) in [(false, true), (true, false)] {
            assert_eq!(may_fail_init(initialised).is_ok(), allowed);
            assert_eq!(may_restore(initialised).is_ok(), allowed);
        }
    }

    #[test]
    fn the_mode_is_streaming_to_the_letter() {
        for (value, expected) in [
            (None, Ok(ResponseMode::Buffered)),
            (Some(""), Ok(ResponseMode::Buffered)),
            (Some("streaming"), Ok(ResponseMode::Streaming)),
            (Some("Streaming"), Err(Refusal::InvalidFunctionResponseMode)),
            (Some("buffered"), Err(Refusal::InvalidFunctionResponseMode)),
        ] {
            let header = value.map(HeaderValue::from_static);
            assert_eq!(response_mode(header.as_ref()), expected, "{value:?}");
        }
    }

    #[test]
    fn a_refusal_says_what_the_real_one_says() {
        for (refusal, status, json) in [
            (
                Refusal::InvalidRequestId,
                400,
                r#"{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}"#,
            ),
            (
                Refusal::RequestEntityTooLarge { limit: 6_291_556 },
                413,
                r#"{"errorMessage":"Exceeded maximum allowed payload size (6291556 bytes).","errorType":"RequestEntityTooLarge"}"#,
            ),
            (
                Refusal::InvalidStateTransition { from: "Running", to: "Ready" },
                403,
                r#"{"errorMessage":"State transition from Running to Ready failed for runtime. Error: State transition is not allowed","errorType":"InvalidStateTransition"}"#,
            ),
            (
                Refusal::InvokeTimeout,
                410,
                r#"{"errorMessage":"Invoke timeout","errorType":"InvokeTimeout"}"#,
            ),
        ] {
            assert_eq!((refusal.status().as_u16(), refusal.json().as_str()), (status, json));
        }
    }
}
