//! One call of the function.

use std::fmt;

use bytes::Bytes;
use futures_core::Stream;

use super::{Answered, Context, Error, ErrorReport, HttpPrelude, Responder};

/// One call of the function: what it is called with, and the right to answer, which is used up by
/// the answer.
#[must_use = "an invocation that is not answered takes until its deadline to fail"]
pub struct Invocation {
    /// What is known of it besides the event.
    pub context: Context,
    /// What the function is called with.
    pub event: Bytes,
    responder: Responder,
}

impl Invocation {
    /// The parts, to hand the first two to a handler and to answer by the third.
    pub fn into_parts(self) -> (Context, Bytes, Responder) {
        (self.context, self.event, self.responder)
    }

    /// Answers: see [`Responder::respond`].
    ///
    /// # Errors
    ///
    /// As of [`Responder::respond`].
    pub async fn respond(self, answer: impl Into<Bytes>) -> Result<Answered, Error> {
        self.responder.respond(answer).await
    }

    /// Answers piece by piece: see [`Responder::respond_streaming`].
    ///
    /// # Errors
    ///
    /// As of [`Responder::respond`].
    pub async fn respond_streaming<S, E>(self, answer: S) -> Result<Answered, Error>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        self.responder.respond_streaming(answer).await
    }

    /// Answers piece by piece in the form of HTTP: see [`Responder::respond_http_streaming`].
    ///
    /// # Errors
    ///
    /// As of [`Responder::respond`].
    pub async fn respond_http_streaming<S, E>(
        self,
        prelude: HttpPrelude,
        body: S,
    ) -> Result<Answered, Error>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        self.responder.respond_http_streaming(prelude, body).await
    }

    /// Answers that the function failed: see [`Responder::fail`].
    ///
    /// # Errors
    ///
    /// As of [`Responder::respond`].
    pub async fn fail(self, report: &ErrorReport) -> Result<Answered, Error> {
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
