//! What asks the Runtime API for invocations.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, USER_AGENT};
use http::{Method, Request, StatusCode, Uri, response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{Either, Full};
use tokio::time;

use super::connection::{Exchange, Outgoing};
use super::endpoint::Endpoint;
use super::error::ErrorKind;
use super::runtime_client_builder::RuntimeClientBuilder;
use super::streaming::Streaming;
use super::transport::Transport;
use super::wire::{INVOCATION_ID, REQUEST_ID, Route};
use super::{ApiError, Context, Error, ErrorReport, Invocation, Responder};
use presized::{BufferPool, Collect, Reader};

/// A client of the Runtime API. Clones share connections and memory.
///
/// It has no timeout of any kind: between two invocations the process can be frozen for hours, in
/// which no time passes for it, and what an answer takes is bounded by the deadline of its
/// invocation.
///
/// # Examples
///
/// See [the module](super).
#[derive(Clone)]
pub struct RuntimeClient {
    shared: Arc<Shared>,
}

/// An invocation that has been given away, and whose event comes.
pub(super) struct Arriving {
    head: response::Parts,
    exchange: Exchange,
    responder: Responder,
}

struct Shared {
    transport: Transport,
    /// What goes before the path of every request.
    base: String,
    host: HeaderValue,
    user_agent: HeaderValue,
    /// How events are read. It has the pool.
    reader: Reader,
    pool: BufferPool,
}

impl RuntimeClient {
    /// Settings to make a client with.
    pub fn builder() -> RuntimeClientBuilder {
        RuntimeClientBuilder::new()
    }

    /// The client of the function that this process is, as Lambda starts it: with
    /// `AWS_LAMBDA_RUNTIME_API` set.
    ///
    /// # Errors
    ///
    /// [`Config`](ErrorKind::Config) where that is not set, or is no endpoint.
    pub fn from_env() -> Result<Self, Error> {
        RuntimeClientBuilder::from_variables(|name| std::env::var(name).ok())?.build()
    }

    /// Waits for the next invocation, for as long as it takes.
    ///
    /// An answer with no invocation in it, as some emulators send to those who wait for long, is
    /// none: after a while it asks again. Nothing else is tried again.
    ///
    /// # Errors
    ///
    /// [`Event`](ErrorKind::Event) where there is an invocation that still is to be answered: see
    /// [`Error::into_unanswered`]. Otherwise there is none, and [`Error::is_fatal`] says whether
    /// to ask for another.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection. Until Lambda has given the event away, nothing
    /// is lost by that. An event that is on its way by then is lost, and its invocation fails: the
    /// Runtime API gives an event away once.
    pub async fn next(&self) -> Result<Invocation, Error> {
        let arriving = self.arriving().await?;
        self.read(arriving).await
    }

    /// Reports that the function could not be started. The process is to end then, with an error.
    ///
    /// # Errors
    ///
    /// The report did not get through. That is no reason to do otherwise.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection. The report may have got through.
    pub async fn init_error(&self, report: &ErrorReport) -> Result<(), Error> {
        self.report(Route::InitError, report).await
    }

    /// Says that the function may be stored as a snapshot now, and returns when it has been
    /// restored from it.
    ///
    /// The connections of this client are new then. Whatever else was connected, or is to be
    /// unique, is the caller's to make anew.
    ///
    /// # Errors
    ///
    /// The process is not restored, and is to end.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection. The snapshot may be taken nevertheless.
    pub async fn restore_next(&self) -> Result<(), Error> {
        let (head, exchange) = self.get(Route::RestoreNext).await?;
        if !head.status.is_success() {
            return Err(self.refusal(&head, exchange).await.into());
        }
        // The peer of this connection is that of before the snapshot, as of those that are idle.
        drop(exchange);
        self.shared.transport.forget_idle();
        Ok(())
    }

    /// Reports that the function could not be made ready after it was restored. The process is to
    /// end then, with an error.
    ///
    /// # Errors
    ///
    /// As of [`init_error`](Self::init_error).
    ///
    /// # Cancel safety
    ///
    /// As of [`init_error`](Self::init_error).
    pub async fn restore_error(&self, report: &ErrorReport) -> Result<(), Error> {
        self.report(Route::RestoreError, report).await
    }

    /// Where the memory of events comes from.
    pub fn pool(&self) -> &BufferPool {
        &self.shared.pool
    }

    pub(super) fn new(
        endpoint: Endpoint,
        user_agent: HeaderValue,
        reader: Reader,
        pool: BufferPool,
    ) -> Self {
        let shared = Shared {
            base: endpoint.base_path,
            transport: Transport::new(endpoint.address),
            host: endpoint.host_header,
            user_agent,
            reader,
            pool,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Waits for the head of the next invocation, whose event is to be [read](Self::read).
    pub(super) async fn arriving(&self) -> Result<Arriving, Error> {
        let mut wait = WAIT_FIRST;
        loop {
            let (head, exchange) = self.get(Route::NextInvocation).await?;
            match head.status {
                StatusCode::OK => match self.responder(&head.headers) {
                    Some(responder) => return Ok(Arriving { head, exchange, responder }),
                    None => tracing::warn!("the Runtime API sent an invocation without an id"),
                },
                StatusCode::NO_CONTENT => {}
                _ => return Err(self.refusal(&head, exchange).await.into()),
            }
            self.discard(head, exchange).await;
            time::sleep(wait).await;
            wait = (wait * 2).min(WAIT_MOST);
        }
    }

    /// Reads the event of an invocation.
    pub(super) async fn read(&self, arriving: Arriving) -> Result<Invocation, Error> {
        let Arriving { head, mut exchange, responder } = arriving;
        let context = Context::new(responder.request_id().to_owned(), &head.headers);
        let reader = self.shared.reader.clone();
        let event = Collect::of_response(&Method::GET, &head, &mut exchange, reader);
        // Its headers are slices of what the connection read into, which it can use again now.
        drop(head);
        match event.bytes().await {
            Ok(event) => {
                self.shared.transport.release(exchange).await;
                Ok(Invocation::new(context, event, responder))
            }
            Err(error) => Err(Error::event(error, context, responder)),
        }
    }

    /// Posts what is in memory, and once more if the connection breaks before there is a response.
    /// Returns what it was refused with.
    pub(super) async fn post(
        &self,
        route: Route<'_>,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Option<ApiError>, Error> {
        if body.is_empty() {
            // RFC 9110, section 8.6. hyper leaves it out.
            headers.insert(CONTENT_LENGTH, ZERO);
        }
        let request = |headers| self.request(route, headers, Either::Left(Full::new(body.clone())));
        let first = request(headers.clone())?;
        let mut response = self.shared.transport.send(first).await;
        if matches!(&response, Err(error) if matches!(error.kind(), ErrorKind::Broken(_))) {
            response = self.shared.transport.send(request(headers)?).await;
        }
        let (head, exchange) = response?;
        self.outcome(head, exchange).await
    }

    /// Posts what comes piece by piece. Returns what it was refused with.
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
        let (head, exchange) = self.shared.transport.send(request).await?;
        let outcome = self.outcome(head, exchange).await;
        // Whoever has accepted the answer before its end may close the connection after it, when
        // the next question is on its way.
        self.shared.transport.forget_idle();
        outcome
    }

    async fn report(&self, route: Route<'_>, report: &ErrorReport) -> Result<(), Error> {
        match self.post(route, report.headers().collect(), report.to_json()).await? {
            None => Ok(()),
            Some(error) => Err(error.into()),
        }
    }

    async fn get(&self, route: Route<'_>) -> Result<(response::Parts, Exchange), Error> {
        let body = Either::Left(Full::default());
        let request = self.request(route, HeaderMap::with_capacity(2), body)?;
        self.shared.transport.send(request).await
    }

    fn request(
        &self,
        route: Route<'_>,
        mut headers: HeaderMap,
        body: Outgoing,
    ) -> Result<Request<Outgoing>, Error> {
        headers.insert(HOST, self.shared.host.clone());
        headers.insert(USER_AGENT, self.shared.user_agent.clone());
        let uri = [&*self.shared.base, &route.path()].concat();
        let mut request = Request::new(body);
        *request.method_mut() = route.method();
        *request.uri_mut() = Uri::try_from(uri).map_err(Error::config)?;
        *request.headers_mut() = headers;
        Ok(request)
    }

    /// Who answers the invocation that these headers are about, if it can be answered.
    fn responder(&self, headers: &HeaderMap) -> Option<Responder> {
        let request_id = headers.get(REQUEST_ID)?.to_str().ok()?;
        // Not a slice of what the connection reads into, which it could not use again.
        let invocation_id = headers.get(INVOCATION_ID).map(|id| id.as_bytes());
        let invocation_id = invocation_id.and_then(|id| HeaderValue::from_bytes(id).ok());
        is_path_segment(request_id)
            .then(|| Responder::new(self.clone(), request_id.to_owned(), invocation_id))
    }

    async fn outcome(
        &self,
        head: response::Parts,
        exchange: Exchange,
    ) -> Result<Option<ApiError>, Error> {
        if head.status.is_success() {
            self.discard(head, exchange).await;
            Ok(None)
        } else {
            Ok(Some(self.refusal(&head, exchange).await))
        }
    }

    async fn refusal(&self, head: &response::Parts, mut exchange: Exchange) -> ApiError {
        let error = ApiError::read(head, &mut exchange).await;
        self.shared.transport.release(exchange).await;
        error
    }

    /// Reads what nobody needs, so that the connection can be used again.
    async fn discard(&self, head: response::Parts, mut exchange: Exchange) {
        let rest = Collect::of_response(&Method::GET, &head, &mut exchange, DISCARDED).prefix();
        // As for an event.
        drop(head);
        if rest.await.is_ok_and(|read| !read.truncated) {
            // An answer may be accepted before its end, and has one nevertheless.
            exchange.sent().await;
            self.shared.transport.release(exchange).await;
        }
    }
}

impl fmt::Debug for RuntimeClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeClient")
            .field("host", &self.shared.host)
            .field("base", &self.shared.base)
            .field("reader", &self.shared.reader)
            .finish_non_exhaustive()
    }
}

/// Whether a text stands for itself in a path (RFC 3986, section 3.3), and can be sent in one.
fn is_path_segment(text: &str) -> bool {
    let stands = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte);
    // The dots stand for other segments (section 5.2.4).
    (1..=ID_LEN).contains(&text.len()) && !matches!(text, "." | "..") && text.bytes().all(stands)
}

/// No id is longer: Lambda's have 36 bytes. `Uri` takes 64 KiB, with what goes around.
const ID_LEN: usize = 1024;

const ZERO: HeaderValue = HeaderValue::from_static("0");

/// What is read of a body that nobody needs. Beyond, a new connection is cheaper.
const DISCARDED: u64 = 64 << 10;

/// Between an answer with no invocation and the next question.
const WAIT_FIRST: Duration = Duration::from_millis(50);

/// The same after several of them.
const WAIT_MOST: Duration = Duration::from_secs(1);
