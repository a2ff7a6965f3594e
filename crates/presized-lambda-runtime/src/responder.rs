//! The answer to one invocation.

use std::fmt;

use bytes::Bytes;
use futures_core::Stream;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, TRAILER};

use super::streaming::Streaming;
use super::wire::{
    FUNCTION_ERROR_BODY, FUNCTION_ERROR_TYPE, HTTP_INTEGRATION, INVOCATION_ID, RESPONSE_MODE,
    Route, STREAMING,
};
use super::{Answered, Error, ErrorReport, HttpPrelude, RuntimeClient};

/// The right to answer one invocation, once.
///
/// Dropping it answers nothing: the caller waits until the deadline, and where there is one
/// invocation at a time, Lambda then ends the process.
#[must_use = "an invocation that is not answered takes until its deadline to fail"]
pub struct Responder {
    client: RuntimeClient,
    request_id: String,
    /// Tells this invocation from another with the same request id.
    invocation_id: Option<HeaderValue>,
}

impl Responder {
    /// Answers with these bytes, whatever they are. They go to the socket from where they are.
    ///
    /// An answer whose connection breaks is sent once more on another: the Runtime API knows it by
    /// the id of its request, and takes one.
    ///
    /// # Errors
    ///
    /// The Runtime API could not be reached, or answered with something that is not about this
    /// answer. What it says about this answer is in [`Answered`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection. The answer may have got through.
    pub async fn respond(self, answer: impl Into<Bytes>) -> Result<Answered, Error> {
        let answer = answer.into();
        let mut headers = self.headers();
        headers.insert(CONTENT_TYPE, OCTETS);
        Answered::of(self.client.post(Route::Response(&self.request_id), headers, answer).await?)
    }

    /// Answers piece by piece, as the pieces come.
    ///
    /// An error in the stream, or a panic of it, ends the answer with what Lambda tells the caller
    /// of it, and never as if it were whole. This future is what asks the stream for more.
    ///
    /// # Errors
    ///
    /// As of [`respond`](Self::respond). A stream cannot be sent again.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection, so that the answer breaks off.
    pub async fn respond_streaming<S, E>(self, answer: S) -> Result<Answered, Error>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        self.stream(OCTETS, Streaming::new(None, answer)).await
    }

    /// Answers piece by piece in the form of HTTP, for a function URL or another caller that makes
    /// an HTTP response of it
    /// (<https://docs.aws.amazon.com/lambda/latest/dg/runtimes-custom.html#runtimes-custom-response-streaming>).
    ///
    /// A prelude that cannot be written, for a header that is not UTF-8, is answered as by
    /// [`fail`](Self::fail).
    ///
    /// # Errors
    ///
    /// As of [`respond_streaming`](Self::respond_streaming).
    ///
    /// # Cancel safety
    ///
    /// As of [`respond_streaming`](Self::respond_streaming).
    pub async fn respond_http_streaming<S, E>(
        self,
        prelude: HttpPrelude,
        body: S,
    ) -> Result<Answered, Error>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        let (prelude, failure) = match prelude.encode() {
            Ok(prelude) => (Some(prelude), None),
            Err(report) => (None, Some(report)),
        };
        let answer = Streaming::new(prelude, body);
        match failure {
            None => self.stream(HTTP_INTEGRATION, answer).await,
            Some(report) => {
                drop(answer);
                self.fail(&report).await
            }
        }
    }

    /// Answers that the function failed.
    ///
    /// # Errors
    ///
    /// As of [`respond`](Self::respond). None of them is a reason for the process to end that is
    /// not one by [`Error::is_fatal`].
    ///
    /// # Cancel safety
    ///
    /// As of [`respond`](Self::respond).
    pub async fn fail(self, report: &ErrorReport) -> Result<Answered, Error> {
        let mut headers = self.headers();
        headers.extend(report.headers());
        Answered::of(
            self.client.post(Route::Error(&self.request_id), headers, report.to_json()).await?,
        )
    }

    /// The id of the request that this answers.
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    pub(super) fn new(
        client: RuntimeClient,
        request_id: String,
        invocation_id: Option<HeaderValue>,
    ) -> Self {
        Self { client, request_id, invocation_id }
    }

    async fn stream<S, E>(
        self,
        content_type: HeaderValue,
        body: Streaming<S>,
    ) -> Result<Answered, Error>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        let mut headers = self.headers();
        headers.insert(CONTENT_TYPE, content_type);
        headers.insert(RESPONSE_MODE, STREAMING);
        // hyper writes no trailer that is not named here, as nobody need read it (RFC 9110,
        // section 6.6.2).
        headers.append(TRAILER, FUNCTION_ERROR_TYPE.into());
        headers.append(TRAILER, FUNCTION_ERROR_BODY.into());
        Answered::of(
            self.client.post_stream(Route::Response(&self.request_id), headers, body).await?,
        )
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(HEADERS);
        if let Some(id) = &self.invocation_id {
            headers.insert(INVOCATION_ID, id.clone());
        }
        headers
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder")
            .field("request_id", &self.request_id)
            .field("invocation_id", &self.invocation_id)
            .finish_non_exhaustive()
    }
}

/// Room for what an answer is sent with.
const HEADERS: usize = 6;

const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");
