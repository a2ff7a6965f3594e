//! One call to a function, from its event to what became of it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::failure::Failure;
use super::log::Tail;

/// What Lambda calls a request.
pub(super) type RequestId = Arc<str>;

/// A call that waits for a runtime.
pub(super) struct Invocation {
    pub(super) id: RequestId,
    pub(super) version: String,
    pub(super) queued: Instant,
    pub(super) event: Bytes,
    /// What the runtime is told with the event.
    pub(super) headers: HeaderMap,
    /// Whether the caller wants the answer as it comes.
    pub(super) takes_stream: bool,
    /// Where the log is kept, if the caller wants it.
    pub(super) log: Option<Tail>,
    pub(super) reply: Reply,
}

/// Who is to hear of the end.
pub(super) enum Reply {
    /// Whoever invoked the function as an event.
    Nobody,
    Caller(oneshot::Sender<Outcome>),
    /// A caller who has the beginning of the answer.
    Stream(oneshot::Sender<Ending>),
}

/// What a caller gets.
pub(super) enum Outcome {
    Answer { content_type: Option<HeaderValue>, payload: Bytes, log: Option<Tail> },
    Failed { failure: Failure, log: Option<Tail> },
    Stream(Stream),
}

/// An answer that is still being written.
pub(super) struct Stream {
    pub(super) chunks: mpsc::Receiver<Bytes>,
    pub(super) ending: oneshot::Receiver<Ending>,
}

/// How a streamed answer ended.
#[derive(Default)]
pub(super) struct Ending {
    pub(super) failure: Option<Failure>,
    pub(super) log: Option<Tail>,
}

/// What a runtime, or the want of one, has made of an invocation.
pub(super) enum End {
    Answered {
        content_type: Option<HeaderValue>,
        payload: Bytes,
    },
    /// To the end, and handed on already.
    Streamed,
    Failed(Failure),
    TimedOut(Failure),
}

/// A call that a runtime is at work on.
pub(super) struct Running {
    /// Of this attempt. Only where a runtime can have several.
    pub(super) invocation_id: Option<HeaderValue>,
    pub(super) started: Instant,
    pub(super) deadline: Option<Instant>,
    /// There while an answer is being read. Whoever reads it sees this dropped, and so hears that
    /// the invocation has ended without it.
    pub(super) answering: Option<oneshot::Sender<()>>,
    pub(super) takes_stream: bool,
    pub(super) log: Option<Tail>,
    pub(super) reply: Reply,
}

/// What a runtime gets.
pub(super) struct Event {
    pub(super) headers: HeaderMap,
    pub(super) timeout: Duration,
    pub(super) invocation_id: Option<HeaderValue>,
    pub(super) payload: Bytes,
}

impl Reply {
    /// Tells of the end. Nobody needs to be there any more.
    pub(super) fn send(self, end: End, log: Option<Tail>) {
        match self {
            Self::Nobody => {}
            Self::Caller(caller) => {
                let _ = caller.send(match end {
                    End::Answered { content_type, payload } => {
                        Outcome::Answer { content_type, payload, log }
                    }
                    End::Streamed => {
                        Outcome::Answer { content_type: None, payload: Bytes::new(), log }
                    }
                    End::Failed(failure) | End::TimedOut(failure) => {
                        Outcome::Failed { failure, log }
                    }
                });
            }
            Self::Stream(caller) => {
                let failure = match end {
                    End::Answered { .. } | End::Streamed => None,
                    End::Failed(failure) | End::TimedOut(failure) => Some(failure),
                };
                let _ = caller.send(Ending { failure, log });
            }
        }
    }
}
