//! The sender of a request to the Runtime API.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::Deployed;
use super::environments::EnvironmentId;

/// The sender of a request to the Runtime API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuntimeSource {
    /// The runtime of an environment that has an address of its own.
    Environment(EnvironmentId),
    /// A runtime that the emulator did not start, by one of its connections.
    Connection(ConnectionId),
}

/// The number of a connection to the address of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionId(pub(super) u64);

/// An open connection to the address of a function.
pub(crate) struct RuntimeConnection {
    function: Arc<Deployed>,
    id: ConnectionId,
}

impl RuntimeConnection {
    pub(crate) fn new(function: &Arc<Deployed>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { function: Arc::clone(function), id: ConnectionId(NEXT.fetch_add(1, Relaxed)) }
    }

    pub(crate) fn function(&self) -> &Arc<Deployed> {
        &self.function
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }
}

impl Drop for RuntimeConnection {
    fn drop(&mut self) {
        self.function.connection_closed(self.id);
    }
}
