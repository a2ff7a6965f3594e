//! The way back to the caller of an invocation.

use std::mem;

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::{mpsc, oneshot};

use crate::failure::Failure;
use crate::log_tail::LogTail;
use crate::outcome::{InvocationOutcome, StreamEnd, StreamedResponse};

/// The receiver of the outcome of an invocation.
pub(crate) enum Reply {
    /// The invocation is of type `Event`, so that no caller waits.
    Discarded,
    /// The caller waits for the response.
    Caller(oneshot::Sender<InvocationOutcome>),
    /// The caller has the start of a streamed response.
    Stream(oneshot::Sender<StreamEnd>),
}

/// The end of an invocation.
pub(crate) enum InvocationEnd {
    /// The runtime has sent a response.
    Response {
        content_type: Option<HeaderValue>,
        payload: Bytes,
    },
    /// The caller has all chunks of the response.
    Streamed,
    Failed(Failure),
    TimedOut(Failure),
}

impl Reply {
    /// Returns whether a caller waits for the outcome.
    pub(super) fn is_awaited(&self) -> bool {
        !matches!(self, Self::Discarded)
    }

    /// Gives the caller the start of a streamed response, and returns where its chunks go.
    pub(super) fn start_stream(&mut self) -> mpsc::Sender<Bytes> {
        let (sender, chunks) = mpsc::channel(CHUNKS_AHEAD);
        let (end_sender, end) = oneshot::channel();
        if let Self::Caller(caller) = mem::replace(self, Self::Stream(end_sender)) {
            // If the caller is gone, the first chunk fails.
            let _ = caller.send(InvocationOutcome::Stream(StreamedResponse { chunks, end }));
        }
        sender
    }

    /// Sends the end of the invocation. The caller may be gone.
    pub(super) fn send(self, end: InvocationEnd, log: Option<LogTail>) {
        match self {
            Self::Discarded => {}
            Self::Caller(caller) => {
                let _ = caller.send(match end {
                    InvocationEnd::Response { content_type, payload } => {
                        InvocationOutcome::Response { content_type, payload, log }
                    }
                    InvocationEnd::Streamed => InvocationOutcome::Response {
                        content_type: None,
                        payload: Bytes::new(),
                        log,
                    },
                    InvocationEnd::Failed(failure) | InvocationEnd::TimedOut(failure) => {
                        InvocationOutcome::Failed { failure, log }
                    }
                });
            }
            Self::Stream(caller) => {
                let failure = match end {
                    InvocationEnd::Response { .. } | InvocationEnd::Streamed => None,
                    InvocationEnd::Failed(failure) | InvocationEnd::TimedOut(failure) => {
                        Some(failure)
                    }
                };
                let _ = caller.send(StreamEnd { failure, log });
            }
        }
    }
}

impl InvocationEnd {
    pub(super) fn is_timeout(&self) -> bool {
        matches!(self, Self::TimedOut(_))
    }
}

/// How many chunks of a streamed response are read before the caller takes them. One chunk is
/// what one read of the connection returns.
const CHUNKS_AHEAD: usize = 4;
