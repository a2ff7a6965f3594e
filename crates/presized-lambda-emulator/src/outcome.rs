//! The outcome of an invocation, which the Invoke API sends to the caller.

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::{mpsc, oneshot};

use crate::failure::Failure;
use crate::log_tail::LogTail;

/// The outcome of an invocation.
pub(crate) enum InvocationOutcome {
    Response { content_type: Option<HeaderValue>, payload: Bytes, log: Option<LogTail> },
    Failed { failure: Failure, log: Option<LogTail> },
    Stream(StreamedResponse),
}

/// A response that the runtime is still writing.
pub(crate) struct StreamedResponse {
    pub(crate) chunks: mpsc::Receiver<Bytes>,
    pub(crate) end: oneshot::Receiver<StreamEnd>,
}

/// The end of a streamed response.
#[derive(Default)]
pub(crate) struct StreamEnd {
    pub(crate) failure: Option<Failure>,
    pub(crate) log: Option<LogTail>,
}
