//! A tower service made of a handler.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tower_service::Service;

use super::{ErrorReport, FunctionRequest, FunctionResponse, Handler};

/// A tower service that calls a handler, to put layers around it.
///
/// [`service`](super::service) makes a handler of the outermost layer. So a JSON function can have the
/// layers of tower: timeouts, concurrency limits, load shedding or a layer of one's own that sees the
/// event and the response.
///
/// The service boxes one future for each invocation. A [`json`](super::json()) handler behind layers
/// does not share the pool of the events, and allocates its responses.
///
/// # Examples
///
/// A layer that measures the time of each invocation:
///
/// ```
/// use std::time::Instant;
/// use presized_lambda_runtime::{
///     BoxError, Context, FunctionRequest, HandlerService, json, service,
/// };
/// use tower::{ServiceBuilder, ServiceExt};
///
/// async fn double(number: u32, _context: Context) -> Result<u32, BoxError> {
///     Ok(number.checked_mul(2).ok_or("too large")?)
/// }
///
/// let service_of_double = ServiceBuilder::new()
///     .timeout(std::time::Duration::from_secs(3))
///     .map_request(|request: FunctionRequest| {
///         println!("{} bytes at {:?}", request.event.len(), Instant::now());
///         request
///     })
///     .service(HandlerService::new(json(double)));
/// let handler = service(service_of_double);
/// ```
pub struct HandlerService<H>(Arc<H>);

impl<H: Handler> HandlerService<H> {
    /// Creates a service that calls `handler`.
    pub fn new(handler: H) -> Self {
        Self(Arc::new(handler))
    }
}

impl<H: Handler> Service<FunctionRequest> for HandlerService<H> {
    type Response = FunctionResponse;
    type Error = ErrorReport;
    type Future = Pin<Box<dyn Future<Output = Result<FunctionResponse, ErrorReport>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ErrorReport>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: FunctionRequest) -> Self::Future {
        let handler = Arc::clone(&self.0);
        Box::pin(async move { handler.call(request.event, request.context).await })
    }
}

impl<H> Clone for HandlerService<H> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<H> fmt::Debug for HandlerService<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandlerService")
    }
}
