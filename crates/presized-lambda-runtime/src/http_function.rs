//! A handler made of an HTTP service: its settings, and the call of the service.

mod encoding;
mod event;
mod pairs;
mod query;
mod request;
mod request_body;
mod request_context;
mod response;
mod response_stream;
mod uri;

use std::fmt;
use std::future::poll_fn;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use presized::{BufferPool, Reader};
use tower_service::Service;

pub use self::request_body::RequestBody;
pub use self::request_context::{HttpSource, RequestContext};
use self::response_stream::ResponseStream;
pub use self::uri::StagePath;
use super::wire::RESPONSE_MAX;
use super::{BoxError, Context, ErrorReport, FunctionResponse, Handler};

/// Makes a handler of an HTTP service: a `Router` of axum, or any tower service.
///
/// The events of these sources become requests:
///
/// | source | format of the event |
/// | --- | --- |
/// | API Gateway, HTTP API | [payload 2.0](https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html), or 1.0 |
/// | function URL | [payload 2.0](https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads) |
/// | API Gateway, REST API | [proxy integration](https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html) |
/// | API Gateway, WebSocket API | [WebSocket](https://docs.aws.amazon.com/apigateway/latest/developerguide/websocket-api-develop-routes.html), with method GET |
/// | Application Load Balancer | [single and multi-value headers](https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html) |
///
/// A request has two extensions: the [`Context`] of the invocation, and the [`RequestContext`], which
/// holds the event. Its URI is absolute if the event names a host. An event of another source fails
/// with `Runtime.UnmarshalError`.
///
/// The response is read completely and sent as JSON, of at most 6 MiB. Its body is sent as text if it
/// is UTF-8, has no `Content-Encoding`, and has no `Content-Type` or one of these: `text/*`, JSON,
/// JavaScript, XML, YAML, and those that end in `+json`, `+xml` and `+yaml`. Another body is sent in
/// base64. A REST API decodes it only if its
/// [binary media types](https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings.html)
/// contain the type. [`HttpFunction::streaming`] sends a response while it is produced.
///
/// Each invocation clones the service and calls the clone when it is ready.
///
/// # Memory
///
/// Headers and a body without escapes are parts of the event and not copies. A service that keeps one
/// keeps the memory of the whole event.
///
/// # Examples
///
/// ```
/// use axum::Router;
/// use axum::extract::Path;
/// use axum::routing::get;
/// use presized_lambda_runtime::{Error, http, run};
///
/// async fn greet(Path(name): Path<String>) -> String {
///     format!("Hello, {name}!")
/// }
///
/// # async fn example() -> Result<(), Error> {
/// let app = Router::new().route("/greet/{name}", get(greet));
/// run(http(app)).await
/// # }
/// ```
pub fn http<S, B>(service: S) -> HttpFunction<S>
where
    S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<ErrorReport>,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    HttpFunction {
        service: Mutex::new(service),
        stage_path: StagePath::default(),
        streaming: false,
        reader: Reader::new(RESPONSE_MAX),
        pool: BufferPool::new(0),
    }
}

/// A handler that calls an HTTP service. [`http`](fn@http) creates it.
pub struct HttpFunction<S> {
    /// The mutex makes a service `Sync` that is not. The service is only cloned.
    service: Mutex<S>,
    stage_path: StagePath,
    streaming: bool,
    reader: Reader,
    pool: BufferPool,
}

impl<S> HttpFunction<S> {
    /// Sets whether responses are sent while they are produced. The default is `false`.
    ///
    /// Function URLs with the invoke mode `RESPONSE_STREAM` and REST APIs with
    /// [response streaming](https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode-lambda.html)
    /// understand such a response. Others do not, and get the wrong bytes. Trailers are not sent.
    #[must_use]
    pub fn streaming(mut self, streaming: bool) -> Self {
        self.streaming = streaming;
        self
    }

    /// Sets the part that the stage of an API has in paths. The default is [`StagePath::Removed`].
    #[must_use]
    pub fn stage_path(mut self, stage_path: StagePath) -> Self {
        self.stage_path = stage_path;
        self
    }
}

impl<S, B> Handler for HttpFunction<S>
where
    S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<ErrorReport>,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    async fn call(&self, event: Bytes, context: Context) -> Result<FunctionResponse, ErrorReport> {
        let (request, form) = request::of_event(event, context, self.stage_path)?;
        // A clone that panicked has changed nothing, so that a poisoned service can be used.
        let mut service = self.service.lock().unwrap_or_else(PoisonError::into_inner).clone();
        poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into)?;
        let response = service.call(request).await.map_err(Into::into)?;
        if self.streaming {
            return Ok(FunctionResponse::http(response.map(ResponseStream::new)));
        }
        let (head, body) = response.into_parts();
        let body = self.reader.collect(body).await.map_err(response::unreadable)?;
        response::to_json(&head, &body, form, &self.pool).map(FunctionResponse::json)
    }

    fn set_pool(&mut self, pool: &BufferPool) {
        self.reader = self.reader.clone().pool(pool);
        self.pool = pool.clone();
    }
}

impl<S> fmt::Debug for HttpFunction<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpFunction")
            .field("stage_path", &self.stage_path)
            .field("streaming", &self.streaming)
            .finish_non_exhaustive()
    }
}
