//! Requests to the Runtime API, and their responses.

use std::fmt;

use bytes::Bytes;
use futures_core::Stream;
use http::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, USER_AGENT};
use http::{Method, Request, Uri, response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{Either, Full};
use presized::Collect;

use super::connection::{Exchange, Outgoing};
use super::endpoint::Endpoint;
use super::streaming::Streaming;
use super::transport::{SendError, Transport};
use super::wire::Route;
use super::{ApiError, Error, ErrorReport};

/// One Runtime API, shared by a client and its invocations.
pub(super) struct Api {
    transport: Transport,
    /// The path before every route.
    base_path: String,
    host: HeaderValue,
    user_agent: HeaderValue,
}

impl Api {
    pub(super) fn new(endpoint: Endpoint, user_agent: HeaderValue) -> Self {
        Self {
            transport: Transport::new(endpoint.address),
            base_path: endpoint.base_path,
            host: endpoint.host_header,
            user_agent,
        }
    }

    /// Sends a request without a body and waits for the head of its response.
    pub(super) async fn get(&self, route: Route<'_>) -> Result<(response::Parts, Exchange), Error> {
        self.exchange(route, HeaderMap::with_capacity(2), Bytes::new()).await
    }

    /// Sends a request and waits for the head of its response.
    pub(super) async fn exchange(
        &self,
        route: Route<'_>,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<(response::Parts, Exchange), Error> {
        let request = self.request(route, headers, Either::Left(Full::new(body)))?;
        Ok(self.transport.send(request).await?)
    }

    /// Posts a body that is in memory. Returns the refusal of the Runtime API, if there is one.
    ///
    /// Posts it a second time if the connection breaks before the response.
    pub(super) async fn post(
        &self,
        route: Route<'_>,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Option<ApiError>, Error> {
        if body.is_empty() {
            // RFC 9110, section 8.6, asks for it, and hyper does not send it.
            headers.insert(CONTENT_LENGTH, ZERO);
        }
        let request = |headers| self.request(route, headers, Either::Left(Full::new(body.clone())));
        let first = request(headers.clone())?;
        let mut response = self.transport.send(first).await;
        if matches!(response, Err(SendError::Broken(_))) {
            response = self.transport.send(request(headers)?).await;
        }
        let (head, exchange) = response?;
        self.refusal(head, exchange).await
    }

    /// Posts a streamed body. Returns the refusal of the Runtime API, if there is one.
    pub(super) async fn post_stream<S, E>(
        &self,
        route: Route<'_>,
        headers: HeaderMap,
        body: Streaming<S>,
    ) -> Result<Option<ApiError>, Error>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        let body = Either::Right(UnsyncBoxBody::new(body));
        let request = self.request(route, headers, body)?;
        let (head, exchange) = self.transport.send(request).await?;
        let refusal = self.refusal(head, exchange).await;
        // A server that accepts a streamed response before its end may close the connection
        // afterwards, while the next request is on its way.
        self.transport.close_idle();
        refusal
    }

    /// Posts an error report that belongs to no invocation.
    pub(super) async fn post_report(
        &self,
        route: Route<'_>,
        report: &ErrorReport,
    ) -> Result<(), Error> {
        match self.post(route, report.headers().collect(), report.body()).await? {
            None => Ok(()),
            Some(error) => Err(error.into()),
        }
    }

    /// Reads the error in a response.
    pub(super) async fn error(&self, head: &response::Parts, mut exchange: Exchange) -> ApiError {
        let error = ApiError::read(head, &mut exchange).await;
        self.release(exchange).await;
        error
    }

    /// Reads a response that is of no use, so that its connection can be used again.
    pub(super) async fn discard(&self, head: response::Parts, mut exchange: Exchange) {
        let rest = Collect::of_response(&Method::GET, &head, &mut exchange, DISCARD_MAX).prefix();
        // The headers are slices of the read buffer of the connection, which needs it again.
        drop(head);
        if rest.await.is_ok_and(|read| !read.truncated) {
            // The Runtime API may accept a request before its end, which must be sent anyway.
            exchange.sent().await;
            self.release(exchange).await;
        }
    }

    /// Keeps the connection of an exchange for the next request.
    pub(super) async fn release(&self, exchange: Exchange) {
        self.transport.release(exchange).await;
    }

    /// Closes the connections that are idle.
    pub(super) fn close_idle(&self) {
        self.transport.close_idle();
    }

    fn request(
        &self,
        route: Route<'_>,
        mut headers: HeaderMap,
        body: Outgoing,
    ) -> Result<Request<Outgoing>, Error> {
        headers.insert(HOST, self.host.clone());
        headers.insert(USER_AGENT, self.user_agent.clone());
        let uri = [&*self.base_path, &route.path()].concat();
        let mut request = Request::new(body);
        *request.method_mut() = route.method();
        *request.uri_mut() = Uri::try_from(uri).map_err(Error::config)?;
        *request.headers_mut() = headers;
        Ok(request)
    }

    async fn refusal(
        &self,
        head: response::Parts,
        exchange: Exchange,
    ) -> Result<Option<ApiError>, Error> {
        if head.status.is_success() {
            self.discard(head, exchange).await;
            Ok(None)
        } else {
            Ok(Some(self.error(&head, exchange).await))
        }
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("host", &self.host)
            .field("base_path", &self.base_path)
            .finish_non_exhaustive()
    }
}

const ZERO: HeaderValue = HeaderValue::from_static("0");

/// The maximum length of a body that is discarded. A new connection is cheaper than more.
const DISCARD_MAX: u64 = 64 << 10;
