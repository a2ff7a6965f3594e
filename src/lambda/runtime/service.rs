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

/// A service of tower, with the layers that it has.
///
/// Each invocation has a clone of its own, which is called when it is ready: what bounds several
/// of them is what the clones share.
///
/// Layers that box the errors of others need one more around them, `map_err` of tower, in which
/// [`ErrorReport::from_dyn`] gives the error a type.
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
        service.call(Request { event, context }).await.map(Into::into).map_err(Into::into)
    }
}
