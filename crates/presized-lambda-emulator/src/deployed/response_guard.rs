//! The response to an invocation while it is being read.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::mpsc;

use super::Deployed;
use super::environments::EnvironmentId;
use super::queued_invocation::RequestId;
use super::reply::InvocationEnd;
use super::running_invocation::ResponseStart;
use super::runtime_source::RuntimeSource;
use crate::failure::Failure;
use crate::runtime_api::Refusal;

/// The right to end an invocation, while its response is being read.
///
/// If it is dropped before [`end`](Self::end), the response was truncated.
pub(crate) struct ResponseGuard {
    function: Arc<Deployed>,
    environment: EnvironmentId,
    id: RequestId,
    start: ResponseStart,
    /// The end of the invocation, once it is known.
    end: Option<InvocationEnd>,
    ended: bool,
}

impl ResponseGuard {
    /// Starts the response to the invocation `id`.
    pub(crate) fn start(
        function: &Arc<Deployed>,
        source: RuntimeSource,
        id: &str,
        invocation_id: Option<&HeaderValue>,
    ) -> Result<Self, Refusal> {
        let (environment, start) = function.start_response(source, id, invocation_id)?;
        let function = Arc::clone(function);
        let id = RequestId::from(id);
        Ok(Self { function, environment, id, start, end: None, ended: false })
    }

    /// Returns whether the caller takes the response while it is written.
    pub(crate) fn takes_stream(&self) -> bool {
        self.start.takes_stream
    }

    /// Waits until the invocation has ended, for instance by its timeout.
    pub(crate) async fn invocation_ended(&mut self) {
        // The sender is dropped without a message.
        let _ = (&mut self.start.invocation_ended).await;
    }

    /// Gives the caller the start of the response, and returns where its chunks go.
    pub(crate) fn start_stream(&self) -> Result<mpsc::Sender<Bytes>, Refusal> {
        self.function.start_stream(self.environment, &self.id).ok_or(Refusal::InvokeTimeout)
    }

    /// Ends the invocation, or fails if it has ended already.
    pub(crate) async fn end(mut self, end: InvocationEnd) -> Result<(), Refusal> {
        // Kept in `self`, so that it counts even if the runtime disconnects during the flush.
        self.end = Some(end);
        if self.function.wants_log(self.environment, &self.id) {
            self.function.flush_log(self.environment).await;
        }
        if self.end_now() { Ok(()) } else { Err(Refusal::InvokeTimeout) }
    }

    fn end_now(&mut self) -> bool {
        self.ended = true;
        let truncated = || InvocationEnd::Failed(Failure::truncated());
        let end = self.end.take().unwrap_or_else(truncated);
        self.function.end(self.environment, &self.id, end)
    }
}

impl Drop for ResponseGuard {
    fn drop(&mut self) {
        if !self.ended {
            self.end_now();
        }
    }
}
