//! The process of a function: what it is set up with, and how many invocations it serves at once.

use std::env;
use std::fmt;
use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::shutdown::{terminate, until};
use super::snap_start::{Hook, SnapStart};
use super::wire::{CONCURRENCY_VARIABLE, INITIALIZATION_VARIABLE, SNAP_START};
use super::worker::{OnInvocation, Worker};
use super::{Context, Error, ErrorKind, ErrorReport, Handler, RuntimeClient};

/// Serves invocations, as the environment that Lambda starts the process in says: see
/// [`Runtime::run`].
///
/// # Errors
///
/// As of [`Runtime::run`].
///
/// # Examples
///
/// ```no_run
/// use std::io;
/// use bytes::Bytes;
/// use presized_lambda_runtime::{Context, Error, raw, run};
///
/// async fn echo(event: Bytes, _context: Context) -> io::Result<Bytes> {
///     Ok(event)
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Error> {
///     run(raw(echo)).await
/// }
/// ```
pub async fn run(handler: impl Handler) -> Result<(), Error> {
    Runtime::new(handler).run().await
}

/// A function, and how it is run. What is not set is as the environment says when it is run.
///
/// # Examples
///
/// With a connection that a snapshot cannot keep, and a pool that is shared with what the
/// function calls:
///
/// ```no_run
/// # async fn example() -> Result<(), presized_lambda_runtime::Error> {
/// use std::io;
/// use bytes::Bytes;
/// use presized_lambda_runtime::{Context, Runtime, RuntimeClient, raw};
///
/// # async fn connect() -> io::Result<()> { Ok(()) }
/// let client = RuntimeClient::from_env()?;
/// let pool = client.pool().clone();
/// let handler = raw(move |event: Bytes, _: Context| {
///     let _pool = pool.clone();
///     async move { Ok::<_, io::Error>(event) }
/// });
/// Runtime::new(handler).client(client).after_restore(connect).run().await
/// # }
/// ```
#[must_use = "nothing is served until it is run"]
pub struct Runtime<H> {
    handler: H,
    client: Option<RuntimeClient>,
    concurrency: Option<usize>,
    shutdown: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    on_invocation: Option<OnInvocation>,
    uses_snap_start: Option<bool>,
    snap_start: SnapStart,
}

impl<H: Handler> Runtime<H> {
    /// A function with nothing set.
    pub fn new(handler: H) -> Self {
        Self {
            handler,
            client: None,
            concurrency: None,
            shutdown: None,
            on_invocation: None,
            uses_snap_start: None,
            snap_start: SnapStart::default(),
        }
    }

    /// Where invocations come from. By default `AWS_LAMBDA_RUNTIME_API` says.
    pub fn client(mut self, client: RuntimeClient) -> Self {
        self.client = Some(client);
        self
    }

    /// How many invocations are served at the same time, each by a task that asks for the next one
    /// when it has answered. By default `AWS_LAMBDA_MAX_CONCURRENCY` says.
    ///
    /// This is for where Lambda, or what stands in for it, gives a process several at a time.
    /// Where it does not, leave it unset, even to 1: one task then serves all, and a failure to
    /// get an invocation ends it without another try.
    pub fn concurrency(mut self, invocations: usize) -> Self {
        self.concurrency = Some(invocations);
        self
    }

    /// When to stop asking for invocations, and return once those in hand are answered. By default
    /// on SIGTERM.
    ///
    /// Lambda sends that only to functions with an extension, and ends the process soon after.
    pub fn shutdown(mut self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.shutdown = Some(Box::pin(signal));
        self
    }

    /// Is called with every invocation before the function is, where one is served at a time.
    ///
    /// It is the place to put [`Context::trace_id`] into the environment as `_X_AMZN_TRACE_ID`,
    /// for an SDK of X-Ray that looks there. This crate does not: since edition 2024 to set a
    /// variable is `unsafe`, for only the program as a whole can know that no other thread reads
    /// the environment at that moment. Where several are served at the same time it is never
    /// called, since what belongs to the process would be that of another invocation.
    pub fn on_invocation(mut self, hook: impl Fn(&Context) + Send + Sync + 'static) -> Self {
        self.on_invocation = Some(OnInvocation::new(hook));
        self
    }

    /// Whether a snapshot is taken of the process before the first invocation. By default
    /// `AWS_LAMBDA_INITIALIZATION_TYPE` says.
    pub fn snap_start(mut self, uses_snap_start: bool) -> Self {
        self.uses_snap_start = Some(uses_snap_start);
        self
    }

    /// What to do before the snapshot, where one is taken: to load what is needed, to close what
    /// cannot be stored.
    ///
    /// An error, or a panic, is reported as one of the start of the function, and ends it.
    pub fn before_checkpoint<Fut, E>(mut self, hook: impl FnOnce() -> Fut + Send + 'static) -> Self
    where
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        self.snap_start.before_checkpoint = Some(Hook::new(hook));
        self
    }

    /// What to do after the process was restored, where a snapshot was taken: to connect again, to
    /// draw numbers that are unique.
    ///
    /// The connections to the Runtime API are new by then. An error, or a panic, is reported as
    /// one of the restoration, and ends the function.
    pub fn after_restore<Fut, E>(mut self, hook: impl FnOnce() -> Fut + Send + 'static) -> Self
    where
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        self.snap_start.after_restore = Some(Hook::new(hook));
        self
    }

    /// Serves invocations until it is shut down, within a runtime of tokio that has its timer and
    /// I/O enabled.
    ///
    /// An invocation fails alone: by an error of the function or a panic of it, by an event that
    /// cannot be read or an answer that is refused. Each has a span, `lambda.invocation`, with the
    /// id of its request, the ARN, the trace, the lengths of event and answer in bytes, and never
    /// their content.
    ///
    /// # Errors
    ///
    /// The process is to end, with an error:
    ///
    /// - A setting is missing or is wrong, or a hook of SnapStart failed.
    /// - The Runtime API said that it cannot recover.
    /// - No invocation can be had. Where several are served at the same time, that was tried five
    ///   times.
    ///
    /// Where several are served at the same time, one that cannot go on leaves the others, and
    /// the first error is returned when none is left.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the invocations in hand, which are not answered then.
    pub async fn run(mut self) -> Result<(), Error> {
        let concurrency = match self.concurrency {
            None => concurrency(env::var(CONCURRENCY_VARIABLE).ok().as_deref())?,
            Some(0) => return Err(Error::config("0 invocations at the same time are none")),
            given => given,
        };
        let client = self.client.map_or_else(RuntimeClient::from_env, Ok)?;
        let mut stop = self.shutdown.unwrap_or_else(terminated);
        let uses_snap_start = self.uses_snap_start.unwrap_or_else(|| {
            env::var(INITIALIZATION_VARIABLE).is_ok_and(|variable| variable == SNAP_START)
        });
        if uses_snap_start {
            match until(stop.as_mut(), self.snap_start.restore(&client)).await {
                Some(restored) => restored?,
                None => return Ok(()),
            }
        }
        self.handler.set_pool(client.pool());
        let (handler, on_invocation) = (self.handler, self.on_invocation);
        match concurrency {
            // In place: to hand each invocation to another task costs CPU time.
            None => Worker { client, handler, on_invocation, tries: 1 }.serve(stop.as_mut()).await,
            Some(loops) => {
                let worker = Worker { client, handler, on_invocation: None, tries: TRIES };
                serve_at_once(Arc::new(worker), loops, stop).await
            }
        }
    }
}

impl<H> fmt::Debug for Runtime<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("client", &self.client)
            .field("concurrency", &self.concurrency)
            .finish_non_exhaustive()
    }
}

/// Serves in so many loops, until none is left.
async fn serve_at_once<H: Handler>(
    worker: Arc<Worker<H>>,
    loops: usize,
    mut stop: Pin<Box<dyn Future<Output = ()> + Send>>,
) -> Result<(), Error> {
    let (stopping, _) = watch::channel(false);
    let mut running = JoinSet::new();
    for _ in 0..loops {
        let (worker, mut stopped) = (Arc::clone(&worker), stopping.subscribe());
        running.spawn(async move {
            let stop = pin!(async {
                // An error is that there is nobody left to say it.
                let _ = stopped.wait_for(|stop| *stop).await;
            });
            worker.serve(stop).await
        });
    }
    let mut failure = None;
    while let Some(ended) = until(stop.as_mut(), running.join_next()).await {
        let Some(ended) = ended else { return failure.map_or(Ok(()), Err) };
        let ended = ended.unwrap_or_else(|lost| Err(Error::new(ErrorKind::Broken(lost.into()))));
        if let Err(error) = ended {
            tracing::error!(%error, left = running.len(), "a loop has ended");
            failure.get_or_insert(error);
        }
    }
    stopping.send_replace(true);
    while let Some(ended) = running.join_next().await {
        if let Ok(Err(error)) = ended {
            tracing::error!(%error, "a loop has ended");
        }
    }
    Ok(())
}

/// Resolves on SIGTERM.
fn terminated() -> Pin<Box<dyn Future<Output = ()> + Send>> {
    match terminate() {
        Ok(terminated) => Box::pin(terminated),
        Err(error) => {
            tracing::warn!(%error, "SIGTERM cannot be heard");
            Box::pin(pending())
        }
    }
}

/// What the variable says, if it is set.
fn concurrency(variable: Option<&str>) -> Result<Option<usize>, Error> {
    let Some(text) = variable else { return Ok(None) };
    match text.parse() {
        Ok(0) | Err(_) => Err(Error::config(format!("{CONCURRENCY_VARIABLE} is {text:?}"))),
        Ok(number) => Ok(Some(number)),
    }
}

/// Of each loop, where there are several: with the waits between them, a second and a half.
const TRIES: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrency_is_a_positive_number() {
        let table = [
            (None, Some(None)),
            (Some("1"), Some(Some(1))),
            (Some("16"), Some(Some(16))),
            (Some("0"), None),
            (Some(""), None),
            (Some("many"), None),
        ];
        for (variable, expected) in table {
            assert_eq!(concurrency(variable).ok(), expected, "{variable:?}");
        }
    }
}
