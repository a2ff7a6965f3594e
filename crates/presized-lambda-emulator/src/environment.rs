//! The execution environments that the emulator starts, each with a runtime and an address of the
//! Runtime API.

mod attached;
mod handle;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::select;
use tokio::task::JoinSet;

use crate::deployed::Deployed;
use crate::runtime_api;

pub(crate) use self::attached::Attached;
pub(crate) use self::handle::{Flushes, Orders, RuntimeHandle};
pub(crate) use crate::deployed::EnvironmentId;

/// Starts the runtimes of a function.
pub(crate) trait StartRuntime: Send + 'static {
    /// Starts a runtime, and returns a future that runs it until its end. The output of the future
    /// is the exit status.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime cannot be started.
    fn start(
        &mut self,
        environment: Starting<'_>,
    ) -> io::Result<impl Future<Output = String> + Send + 'static>;
}

/// An environment whose runtime is to be started.
pub(crate) struct Starting<'a> {
    pub(crate) function: &'a Arc<Deployed>,
    pub(crate) id: EnvironmentId,
    /// The address of the Runtime API for this environment.
    pub(crate) runtime_api: SocketAddr,
    pub(crate) orders: Orders,
    pub(crate) flushes: Flushes,
}

/// Starts the environments that a function needs. Dropping it ends them.
pub(crate) struct Scaler<S> {
    function: Arc<Deployed>,
    runtimes: S,
    environments: JoinSet<()>,
}

impl<S: StartRuntime> Scaler<S> {
    pub(crate) fn new(function: &Arc<Deployed>, runtimes: S) -> Self {
        Self { function: Arc::clone(function), runtimes, environments: JoinSet::new() }
    }

    /// Starts one environment, in the current tokio runtime.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime cannot be started. It also fails the oldest invocation.
    pub(crate) fn start_one(&mut self) -> io::Result<()> {
        let (handle, orders, flushes) = RuntimeHandle::new();
        let id = self.function.environment_started(handle);
        self.start(id, orders, flushes).inspect_err(|error| {
            self.function.environment_ended(id, &error.to_string());
        })
    }

    fn start(&mut self, id: EnvironmentId, orders: Orders, flushes: Flushes) -> io::Result<()> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let runtime_api = listener.local_addr()?;
        let listener = TcpListener::from_std(listener)?;
        let function = &self.function;
        let runtime =
            self.runtimes.start(Starting { function, id, runtime_api, orders, flushes })?;
        let function = Arc::clone(function);
        self.environments.spawn(async move {
            let status = select! {
                status = runtime => status,
                () = runtime_api::serve_environment(listener, Arc::clone(&function), id) => return,
            };
            function.environment_ended(id, &status);
        });
        Ok(())
    }

    /// Starts an environment whenever the function needs one.
    pub(crate) async fn run(mut self) {
        loop {
            select! {
                // The error is the error of an invocation.
                () = self.function.environment_needed() => drop(self.start_one()),
                Some(_) = self.environments.join_next() => {}
            }
        }
    }
}

/// The time that a runtime has to end before it is killed, as a function with an internal extension has
/// (<https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-shutdown>).
pub(crate) const SHUTDOWN: Duration = Duration::from_millis(500);
