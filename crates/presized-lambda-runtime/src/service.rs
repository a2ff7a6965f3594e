//! A service of tower as a function.

use std::future::poll_fn;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use tower_service::Service;

use super::{Answer, Context, ErrorReport, Handler};

/// What a [`service`] is called with.
#[derive(Debug)]
#[non_exhaustive]
pub struct Request {
    /// What the function is called with.
    pub event: Bytes,
    /// What is known of the invocation besides.
    pub context: Context,
}

impl Request {
    /// What a test calls a service with.
    pub fn new(event: Bytes, context: Context) -> Self {
        Self { event, context }
    }
}

/// A service of tower, with the layers that it has.
///
/// Each invocation has a clone of its own, which is called when it is ready: what bounds several
/// of them is what the clones share.
///
/// Layers that box the errors of others need one more around them, `map_err` of tower, in which
/// [`ErrorReport::from_dyn`] gives the error a type.
///
/// # Examples
///
/// ```
/// use std::convert::Infallible;
/// use std::future::{Ready, ready};
/// use std::task::{Context as TaskContext, Poll};
/// use bytes::Bytes;
/// use presized_lambda_runtime::{Context, Request, service};
/// use tower_service::Service;
///
/// #[derive(Clone)]
/// struct Echo;
///
/// impl Service<Request> for Echo {
///     type Response = Bytes;
///     type Error = Infallible;
///     type Future = Ready<Result<Bytes, Infallible>>;
///
///     fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
///         Poll::Ready(Ok(()))
///     }
///
///     fn call(&mut self, request: Request) -> Self::Future {
///         ready(Ok(request.event))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // Called by itself, as a test does it, and as a handler, which `run` takes.
/// let request = Request::new(Bytes::from("hello"), Context::default());
/// assert_eq!(Echo.call(request).await, Ok(Bytes::from("hello")));
/// let handler = service(Echo);
/// # }
/// ```
pub fn service<S>(service: S) -> impl Handler
where
    S: Service<Request> + Clone + Send + 'static,
    S::Response: Into<Answer>,
    S::Error: Into<ErrorReport>,
    S::Future: Send,
{
    Cloned(Mutex::new(service))
}

/// In a mutex since a service need not be `Sync`. It is only ever cloned.
struct Cloned<S>(Mutex<S>);

impl<S> Handler for Cloned<S>
where
    S: Service<Request> + Clone + Send + 'static,
    S::Response: Into<Answer>,
    S::Error: Into<ErrorReport>,
    S::Future: Send,
{
    async fn call(&self, event: Bytes, context: Context) -> Result<Answer, ErrorReport> {
        // To clone it changes nothing, so nothing is broken where that has panicked.
        let mut service = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into)?;
        service.call(Request::new(event, context)).await.map(Into::into).map_err(Into::into)
    }
}
