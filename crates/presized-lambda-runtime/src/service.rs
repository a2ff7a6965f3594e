//! A handler made of a tower service.

use std::future::poll_fn;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use tower_service::Service;

use super::{Context, ErrorReport, FunctionRequest, FunctionResponse, Handler};

/// Makes a handler of a tower service and its layers.
///
/// Each invocation clones the service and calls the clone when it is ready. A layer that limits
/// concurrency must share its state between clones, as those of tower do.
///
/// [`HandlerService`](super::HandlerService) makes a service of a handler such as
/// [`json`](super::json()), to put layers around it.
///
/// A layer may box errors, as many of tower do. See [`ErrorReport`] for the type that is reported.
///
/// # Examples
///
/// ```
/// use std::convert::Infallible;
/// use std::future::{Ready, ready};
/// use std::task::{Context as TaskContext, Poll};
/// use bytes::Bytes;
/// use presized_lambda_runtime::{Context, FunctionRequest, service};
/// use tower_service::Service;
///
/// #[derive(Clone)]
/// struct Echo;
///
/// impl Service<FunctionRequest> for Echo {
///     type Response = Bytes;
///     type Error = Infallible;
///     type Future = Ready<Result<Bytes, Infallible>>;
///
///     fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
///         Poll::Ready(Ok(()))
///     }
///
///     fn call(&mut self, request: FunctionRequest) -> Self::Future {
///         ready(Ok(request.event))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // A test can call the service. `run` takes the handler.
/// let request = FunctionRequest::new(Bytes::from("hello"), Context::default());
/// assert_eq!(Echo.call(request).await, Ok(Bytes::from("hello")));
/// let handler = service(Echo);
/// # }
/// ```
pub fn service<S>(service: S) -> impl Handler
where
    S: Service<FunctionRequest> + Clone + Send + 'static,
    S::Response: Into<FunctionResponse>,
    S::Error: Into<ErrorReport>,
    S::Future: Send,
{
    ServiceHandler(Mutex::new(service))
}

/// The mutex makes a service `Sync` that is not. The service is only cloned.
struct ServiceHandler<S>(Mutex<S>);

impl<S> Handler for ServiceHandler<S>
where
    S: Service<FunctionRequest> + Clone + Send + 'static,
    S::Response: Into<FunctionResponse>,
    S::Error: Into<ErrorReport>,
    S::Future: Send,
{
    async fn call(&self, event: Bytes, context: Context) -> Result<FunctionResponse, ErrorReport> {
        // A clone that panicked has changed nothing, so that a poisoned service can be used.
        let mut service = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into)?;
        let request = FunctionRequest::new(event, context);
        service.call(request).await.map(Into::into).map_err(Into::into)
    }
}
