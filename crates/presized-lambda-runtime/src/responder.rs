//! The response to one invocation.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_core::Stream;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, TRAILER};

use super::api::Api;
use super::streaming::Streaming;
use super::wire::{
    FUNCTION_ERROR_BODY, FUNCTION_ERROR_TYPE, HTTP_INTEGRATION, INVOCATION_ID, RESPONSE_MODE,
    Route, STREAMING,
};
use super::{Error, ErrorReport, HttpPrelude, Outcome};

/// Sends the response to one invocation, once.
///
/// Dropping it sends no response. The caller then waits until the deadline, after which Lambda ends
/// a process that serves one invocation at a time.
#[must_use = "an invocation without a response fails only at its deadline"]
pub struct Responder {
    api: Arc<Api>,
    request_id: String,
    /// Tells two invocations of one request apart.
    invocation_id: Option<HeaderValue>,
}

impl Responder {
    /// Sends a response of any bytes, without a copy in user space.
    ///
    /// Sends it a second time, over another connection, if the connection breaks before the Runtime
    /// API has replied. The Runtime API accepts one response for each request id.
    ///
    /// # Errors
    ///
    /// Returns an error if the Runtime API cannot be reached, or replies with an error that is not
    /// about this response. An [`Outcome`] that is not `Accepted` tells an error that is.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection. The Runtime API may have received the response.
    pub async fn respond(self, response: impl Into<Bytes>) -> Result<Outcome, Error> {
        self.respond_as(OCTET_STREAM, response.into()).await
    }

    /// Sends a response of bytes that are JSON, with the content type `application/json`.
    ///
    /// # Errors
    ///
    /// See [`respond`](Self::respond).
    ///
    /// # Cancel safety
    ///
    /// See [`respond`](Self::respond).
    pub async fn respond_json(self, json: impl Into<Bytes>) -> Result<Outcome, Error> {
        self.respond_as(JSON, json.into()).await
    }

    /// Sends a streamed response, chunk by chunk.
    ///
    /// An error or a panic of the stream ends the response with error trailers, so that the caller
    /// does not take it for complete. The stream is polled by this future.
    ///
    /// # Errors
    ///
    /// See [`respond`](Self::respond). A streamed response is sent once only.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection, so that the response is incomplete.
    pub async fn respond_streaming<S, E>(self, response: S) -> Result<Outcome, Error>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        self.stream(OCTET_STREAM, Streaming::new(None, response)).await
    }

    /// Sends a streamed HTTP response, for a function URL or another caller that reads the
    /// [HTTP integration response](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-custom.html#runtimes-custom-response-streaming).
    ///
    /// Reports an error as [`fail`](Self::fail) does if a header in `prelude` is not UTF-8.
    ///
    /// # Errors
    ///
    /// See [`respond_streaming`](Self::respond_streaming).
    ///
    /// # Cancel safety
    ///
    /// See [`respond_streaming`](Self::respond_streaming).
    pub async fn respond_http_streaming<S, E>(
        self,
        prelude: HttpPrelude,
        body: S,
    ) -> Result<Outcome, Error>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        let (prelude, failure) = match prelude.encode() {
            Ok(prelude) => (Some(prelude), None),
            Err(report) => (None, Some(report)),
        };
        // Catches a panic of the body when it is dropped.
        let response = Streaming::new(prelude, body);
        match failure {
            None => self.stream(HTTP_INTEGRATION, response).await,
            Some(report) => {
                drop(response);
                self.fail(&report).await
            }
        }
    }

    /// Reports that the function failed.
    ///
    /// # Errors
    ///
    /// See [`respond`](Self::respond). End the process only if [`Error::is_fatal`] is `true`.
    ///
    /// # Cancel safety
    ///
    /// See [`respond`](Self::respond).
    pub async fn fail(self, report: &ErrorReport) -> Result<Outcome, Error> {
        let mut headers = self.headers();
        headers.extend(report.headers());
        let body = report.body();
        Outcome::of(self.api.post(Route::Error(&self.request_id), headers, body).await?)
    }

    /// Returns the id of the request.
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    pub(super) fn new(
        api: Arc<Api>,
        request_id: String,
        invocation_id: Option<HeaderValue>,
    ) -> Self {
        Self { api, request_id, invocation_id }
    }

    async fn respond_as(self, content_type: HeaderValue, body: Bytes) -> Result<Outcome, Error> {
        let mut headers = self.headers();
        headers.insert(CONTENT_TYPE, content_type);
        Outcome::of(self.api.post(Route::Response(&self.request_id), headers, body).await?)
    }

    async fn stream<S, E>(
        self,
        content_type: HeaderValue,
        body: Streaming<S>,
    ) -> Result<Outcome, Error>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        let mut headers = self.headers();
        headers.insert(CONTENT_TYPE, content_type);
        headers.insert(RESPONSE_MODE, STREAMING);
        // hyper sends only trailers that are named here (RFC 9110, section 6.6.2).
        headers.append(TRAILER, FUNCTION_ERROR_TYPE.into());
        headers.append(TRAILER, FUNCTION_ERROR_BODY.into());
        let route = Route::Response(&self.request_id);
        Outcome::of(self.api.post_stream(route, headers, body).await?)
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

/// The number of headers of a response, rounded up.
const HEADERS: usize = 6;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

const OCTET_STREAM: HeaderValue = HeaderValue::from_static("application/octet-stream");
