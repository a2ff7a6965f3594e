//! One invocation of the function.

use std::fmt;

use bytes::Bytes;
use futures_core::Stream;

use super::{Context, Error, ErrorReport, HttpPrelude, Outcome, Responder};

/// Contains the event and the context of one invocation, and its responder.
#[must_use = "an invocation without a response fails only at its deadline"]
pub struct Invocation {
    /// The context of the invocation.
    pub context: Context,
    /// The payload that the caller sent.
    pub event: Bytes,
    responder: Responder,
}

impl Invocation {
    /// Returns the parts: the context and the event for a handler, and the responder.
    pub fn into_parts(self) -> (Context, Bytes, Responder) {
        (self.context, self.event, self.responder)
    }

    /// Sends a response. See [`Responder::respond`].
    ///
    /// # Errors
    ///
    /// See [`Responder::respond`].
    pub async fn respond(self, response: impl Into<Bytes>) -> Result<Outcome, Error> {
        self.responder.respond(response).await
    }

    /// Sends a streamed response. See [`Responder::respond_streaming`].
    ///
    /// # Errors
    ///
    /// See [`Responder::respond_streaming`].
    pub async fn respond_streaming<S, E>(self, response: S) -> Result<Outcome, Error>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        self.responder.respond_streaming(response).await
    }

    /// Sends a streamed HTTP response. See [`Responder::respond_http_streaming`].
    ///
    /// # Errors
    ///
    /// See [`Responder::respond_http_streaming`].
    pub async fn respond_http_streaming<S, E>(
        self,
        prelude: HttpPrelude,
        body: S,
    ) -> Result<Outcome, Error>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        self.responder.respond_http_streaming(prelude, body).await
    }

    /// Reports that the function failed. See [`Responder::fail`].
    ///
    /// # Errors
    ///
    /// See [`Responder::fail`].
    pub async fn fail(self, report: &ErrorReport) -> Result<Outcome, Error> {
        self.responder.fail(report).await
    }

    pub(super) fn new(context: Context, event: Bytes, responder: Responder) -> Self {
        Self { context, event, responder }
    }
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation")
            .field("context", &self.context)
            .field("event", &format_args!("{} bytes", self.event.len()))
            .finish_non_exhaustive()
    }
}
