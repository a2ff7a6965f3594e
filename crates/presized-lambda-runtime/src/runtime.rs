//! The runtime of a function: its settings and its loop.

use std::env;
use std::fmt;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;

use super::extension::Extension;
use super::failure_log::FailureLog;
use super::shutdown::{terminate, until};
use super::snap_start::{Hook, SnapStart};
use super::wire::{CONCURRENCY_VARIABLE, INITIALIZATION_VARIABLE, SNAP_START};
use super::worker::{InvocationHook, Worker};
use super::workers;
use super::{Context, Error, ErrorReport, Handler, RuntimeClient};

/// Serves invocations with the settings that Lambda puts into the environment.
///
/// See [`Runtime::run`].
///
/// # Errors
///
/// See [`Runtime::run`].
///
/// # Examples
///
/// ```
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
/// #     // An emulator starts this program as its function.
/// #     if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_none() {
/// #         return Ok(invoke().await.unwrap());
/// #     }
///     run(raw(echo)).await
/// }
/// # async fn invoke() -> Result<(), Box<dyn std::error::Error>> {
/// #     use presized_lambda_emulator::{Emulator, Function};
/// #     let emulator = Emulator::builder().function("f", Function::new()).start().await?;
/// #     emulator.spawn("f", std::process::Command::new(std::env::current_exe()?))?;
/// #     let client = emulator.client_builder().build()?;
/// #     assert_eq!(client.invoke("f").payload("hello").send().await?.payload, "hello");
/// #     Ok(())
/// # }
/// ```
pub async fn run(handler: impl Handler) -> Result<(), Error> {
    Runtime::new(handler).run().await
}

/// Runs a handler, with settings.
///
/// Settings that are not set come from the environment.
///
/// # Examples
///
/// The handler shares the pool of the events, and a connection is opened again after a snapshot was
/// restored:
///
/// ```
/// # use presized_lambda_emulator::{Emulator, Function};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// #     // An emulator starts this program as its function.
/// #     if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_none() {
/// #         let emulator = Emulator::builder().function("f", Function::new()).start().await?;
/// #         emulator.spawn("f", std::process::Command::new(std::env::current_exe()?))?;
/// #         let client = emulator.client_builder().build()?;
/// #         let response = client.invoke("f").payload("hello").send().await?;
/// #         assert_eq!(response.payload, "hello");
/// #         return Ok(());
/// #     }
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
/// Runtime::new(handler).client(client).after_restore(connect).run().await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a runtime serves nothing until `run` is called"]
pub struct Runtime<H> {
    handler: H,
    client: Option<RuntimeClient>,
    concurrency: Option<usize>,
    shutdown: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    is_graceful: bool,
    on_invocation: Option<InvocationHook>,
    uses_snap_start: Option<bool>,
    snap_start: SnapStart,
    failure_log: FailureLog,
}

impl<H: Handler> Runtime<H> {
    /// Creates a runtime without settings.
    pub fn new(handler: H) -> Self {
        Self {
            handler,
            client: None,
            concurrency: None,
            shutdown: None,
            is_graceful: false,
            on_invocation: None,
            uses_snap_start: None,
            snap_start: SnapStart::default(),
            failure_log: FailureLog { has_messages: true },
        }
    }

    /// Sets the client that receives invocations.
    ///
    /// The default is [`RuntimeClient::from_env`].
    pub fn client(mut self, client: RuntimeClient) -> Self {
        self.client = Some(client);
        self
    }

    /// Sets the number of tasks that serve invocations at the same time.
    ///
    /// The default is `AWS_LAMBDA_MAX_CONCURRENCY`, which Lambda sets where a process gets several
    /// invocations at a time. If neither is set, one task serves all invocations, and the first
    /// failure to receive one ends [`run`](Self::run). If one is set, even to 1, each task tries
    /// five times.
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = Some(concurrency);
        self
    }

    /// Sets the signal to shut down: [`run`](Self::run) finishes the invocations that it has received,
    /// and returns.
    ///
    /// The default is SIGTERM. Lambda sends SIGTERM only to functions with an extension, and ends the
    /// process shortly after. See [`graceful_shutdown`](Self::graceful_shutdown).
    pub fn shutdown(mut self, signal: impl Future<Output = ()> + Send + 'static) -> Self {
        self.shutdown = Some(Box::pin(signal));
        self
    }

    /// Sets whether Lambda sends SIGTERM before it ends the process. The default is `false`.
    ///
    /// Lambda ends an environment without extensions by SIGKILL. This setting registers an internal
    /// extension without events when [`run`](Self::run) starts. Lambda then sends SIGTERM and waits
    /// for
    /// [500 ms](https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-shutdown),
    /// so that [`run`](Self::run) returns and the program can flush what it has. It is not needed
    /// beside another extension.
    ///
    /// The extension is a task with one open connection, which gets no event and so costs no CPU time.
    /// `run` only logs a warning if the Runtime API has no extensions, as that of some emulators.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), presized_lambda_runtime::Error> {
    /// use std::io;
    /// use bytes::Bytes;
    /// use presized_lambda_runtime::{Context, Runtime, raw};
    ///
    /// # async fn flush() {}
    /// let handler = raw(async |event: Bytes, _: Context| Ok::<_, io::Error>(event));
    /// Runtime::new(handler).graceful_shutdown(true).run().await?;
    /// flush().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn graceful_shutdown(mut self, is_graceful: bool) -> Self {
        self.is_graceful = is_graceful;
        self
    }

    /// Sets a hook that is called before the handler, for each invocation.
    ///
    /// The hook can put [`Context::trace_id`] into the environment as `_X_AMZN_TRACE_ID`, where SDKs
    /// of X-Ray look for it. This crate does not, because setting a variable is `unsafe`: only the
    /// program can know that no other thread reads the environment at that moment. A call by
    /// `presized-lambda-invoke` needs no variable: it takes [`Context::trace_id`] itself.
    ///
    /// The hook is not called if a [`concurrency`](Self::concurrency) is set. State of the process
    /// would belong to several invocations then.
    pub fn on_invocation(mut self, hook: impl Fn(&Context) + Send + Sync + 'static) -> Self {
        self.on_invocation = Some(InvocationHook::new(hook));
        self
    }

    /// Sets whether the log of a failed invocation contains the message of its error.
    ///
    /// The default is `true`, because the caller of an asynchronous invocation gets no error: the log
    /// is the only place to find it. Set it to `false` if messages can quote secrets or
    /// personal data of the event, as those of parsers do. The type of the error is logged always,
    /// and the caller gets the message in any case.
    pub fn log_error_messages(mut self, has_messages: bool) -> Self {
        self.failure_log = FailureLog { has_messages };
        self
    }

    /// Sets whether Lambda takes a snapshot of the process before the first invocation.
    ///
    /// The default is `true` if `AWS_LAMBDA_INITIALIZATION_TYPE` is `snap-start`.
    pub fn snap_start(mut self, uses_snap_start: bool) -> Self {
        self.uses_snap_start = Some(uses_snap_start);
        self
    }

    /// Sets a hook that is called before the snapshot, if there is one.
    ///
    /// It can load data that every invocation needs, and close what a snapshot cannot contain. An
    /// error or a panic is reported as an initialization error and ends [`run`](Self::run).
    pub fn before_checkpoint<Fut, E>(mut self, hook: impl FnOnce() -> Fut + Send + 'static) -> Self
    where
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        self.snap_start.before_checkpoint = Some(Hook::new(hook));
        self
    }

    /// Sets a hook that is called after the process was restored from a snapshot, if there is one.
    ///
    /// It can open connections and draw random numbers. Connections to the Runtime API are replaced
    /// before. An error or a panic is reported as a restoration error and ends [`run`](Self::run).
    pub fn after_restore<Fut, E>(mut self, hook: impl FnOnce() -> Fut + Send + 'static) -> Self
    where
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        self.snap_start.after_restore = Some(Hook::new(hook));
        self
    }

    /// Serves invocations until the shutdown signal.
    ///
    /// Needs a tokio runtime with I/O and timer enabled.
    ///
    /// One failed invocation does not affect the others: an error or a panic of the handler, an
    /// event that cannot be read, a response that is refused. Each invocation has a tracing span
    /// `lambda.invocation` with its request id, ARN and trace id, and the lengths of its event and
    /// response in bytes. The content of neither is logged. A failed invocation is logged at the level
    /// `error` with the type and the message of its error, of which the first 16 KiB are logged.
    /// [`log_error_messages`](Self::log_error_messages) leaves the message out.
    ///
    /// # Errors
    ///
    /// Returns an error, with which the process should end, if
    ///
    /// - a setting is missing or invalid, or a hook of SnapStart failed,
    /// - the Runtime API cannot recover,
    /// - no invocation can be received, in one attempt, or in five with a
    ///   [`concurrency`](Self::concurrency).
    ///
    /// With a concurrency, the other tasks continue after one has failed. The first error is
    /// returned when all have ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the current invocations without a response.
    pub async fn run(mut self) -> Result<(), Error> {
        let concurrency = match self.concurrency {
            None => concurrency(env::var(CONCURRENCY_VARIABLE).ok().as_deref())?,
            Some(0) => return Err(Error::config("concurrency must be at least 1")),
            given => given,
        };
        let client = self.client.map_or_else(RuntimeClient::from_env, Ok)?;
        let mut stop = self.shutdown.unwrap_or_else(terminated);
        // Extensions register before the first request for an invocation or a snapshot.
        let registered = match self.is_graceful {
            // A server may leave the registration without a reply.
            true => until(stop.as_mut(), Extension::register(&client)).await,
            false => Some(None),
        };
        let Some(_extension) = registered else { return Ok(()) };
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
        let failure_log = self.failure_log;
        match concurrency {
            // Without another task, which would cost CPU time for each invocation.
            None => {
                let worker = Worker { client, handler, on_invocation, attempts: 1, failure_log };
                worker.serve(stop.as_mut()).await
            }
            Some(concurrency) => {
                let (on_invocation, attempts) = (None, ATTEMPTS);
                let worker = Worker { client, handler, on_invocation, attempts, failure_log };
                workers::serve(Arc::new(worker), concurrency, stop).await
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

/// Returns the default shutdown signal.
fn terminated() -> Pin<Box<dyn Future<Output = ()> + Send>> {
    match terminate() {
        Ok(terminated) => Box::pin(terminated),
        Err(error) => {
            let error = &error as &(dyn std::error::Error + 'static);
            tracing::warn!(error, "no handler for SIGTERM");
            Box::pin(pending())
        }
    }
}

/// Parses the value of the variable, if it is set and not blank.
fn concurrency(variable: Option<&str>) -> Result<Option<usize>, Error> {
    let Some(text) = variable.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    match text.parse() {
        Ok(0) | Err(_) => Err(Error::config(format!(
            "{CONCURRENCY_VARIABLE} is {text:?} and must be a number of at least 1"
        ))),
        Ok(number) => Ok(Some(number)),
    }
}

/// The attempts of each task to receive an invocation. The pauses between them take 1.5 seconds.
const ATTEMPTS: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrency_in_the_environment_must_be_a_positive_number() {
        let table = [
            (None, Some(None)),
            (Some("1"), Some(Some(1))),
            (Some("16"), Some(Some(16))),
            (Some(" 2 "), Some(Some(2))),
            (Some(""), Some(None)),
            (Some(" "), Some(None)),
            (Some("0"), None),
            (Some("-1"), None),
            (Some("many"), None),
        ];
        for (variable, expected) in table {
            assert_eq!(concurrency(variable).ok(), expected, "{variable:?}");
        }
    }
}
