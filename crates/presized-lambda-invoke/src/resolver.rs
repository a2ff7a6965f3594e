//! The resolver of host names, whose error names the host.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::{GaiAddrs, GaiResolver, Name};
use tower_service::Service;

use super::connect_error::ConnectError;

/// Looks up names as the system does.
#[derive(Clone, Debug)]
pub(super) struct Resolver(GaiResolver);

impl Resolver {
    pub(super) fn new() -> Self {
        Self(GaiResolver::new())
    }
}

impl Service<Name> for Resolver {
    type Response = GaiAddrs;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<GaiAddrs, ConnectError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        // The system's resolver is always ready.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let host = name.to_string();
        let lookup = self.0.call(name);
        Box::pin(async move {
            lookup.await.map_err(|error| ConnectError::Dns { host, source: Arc::new(error) })
        })
    }
}
