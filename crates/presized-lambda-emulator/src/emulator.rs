//! The emulator, as a test uses it.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use presized_lambda_invoke::{Client, ClientBuilder, Credentials};
use presized_lambda_runtime::Handler;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::deployed::Deployed;
use crate::environment::{Attached, Scaler, StartRuntime};
use crate::invoke_api::Functions;
use crate::names::REGION;
use crate::process::Spawned;
use crate::{EmulatorBuilder, Fault, Stats, UnknownFunction};

/// A Lambda on the loopback interface.
///
/// It serves the Invoke API for all its functions, and a Runtime API for each function and for each
/// execution environment that it starts. Dropping it closes all connections and kills the processes
/// that it has started.
#[must_use = "dropping an emulator stops it"]
pub struct Emulator {
    /// The address of the Invoke API.
    pub(crate) address: SocketAddr,
    pub(crate) functions: Arc<Functions>,
    pub(crate) runtime_apis: BTreeMap<String, SocketAddr>,
    /// The runtime of the tasks, so that methods can be called from any thread.
    pub(crate) tokio: Handle,
    pub(crate) tasks: Mutex<JoinSet<()>>,
}

impl Emulator {
    /// Returns a builder of an emulator without functions.
    pub fn builder() -> EmulatorBuilder {
        EmulatorBuilder::default()
    }

    /// Returns the endpoint of the Invoke API, such as `http://127.0.0.1:49152`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the address of the Runtime API of a function, such as `127.0.0.1:49153`.
    ///
    /// A runtime that the emulator does not run expects it in the environment variable
    /// `AWS_LAMBDA_RUNTIME_API`. Each connection that polls for an event is an execution environment
    /// and gets one event at a time. With [`Function::concurrency`](crate::Function::concurrency),
    /// all connections are one environment, which gets an event for each poll.
    ///
    /// # Errors
    ///
    /// Returns [`UnknownFunction`] if the emulator has no such function.
    pub fn runtime_api(&self, function: &str) -> Result<String, UnknownFunction> {
        self.runtime_address(function).map(|address| address.to_string())
    }

    /// Returns a builder of a client that calls the functions.
    ///
    /// It has the endpoint, the region, and credentials that the emulator does not check.
    pub fn client_builder(&self) -> ClientBuilder {
        Client::builder()
            .endpoint(self.url())
            .region(REGION)
            .credentials(Credentials::new("emulator", "emulator", None, None, "emulator"))
    }

    /// Runs `handler` for the events of a function, in tasks of the emulator.
    ///
    /// Each execution environment is a task with a [`Runtime`](presized_lambda_runtime::Runtime),
    /// which uses a Runtime API of its own over the loopback interface, as a deployed one does. One
    /// environment starts at once. Another one starts when an invocation finds all others busy, up to
    /// the [reserved concurrency](crate::Function::reserved_concurrency). All share the handler and
    /// its state, in contrast to Lambda.
    ///
    /// The environment of an invocation ends at its timeout: the future of the handler is dropped.
    /// An environment that handles [several](crate::Function::concurrency) events at a time goes on.
    ///
    /// # Errors
    ///
    /// Returns [`NotFound`](io::ErrorKind::NotFound) if the emulator has no such function,
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the function has a handler or a command, or
    /// the error of the operating system if a socket cannot be opened.
    pub fn attach(&self, function: &str, handler: impl Handler) -> io::Result<()> {
        let function = self.deployed(function)?;
        self.scale(function, Attached::new(handler, function))
    }

    /// Starts a process that polls the Runtime API of a function, with the
    /// [environment](https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html)
    /// of a function.
    ///
    /// The process is an execution environment. Another one starts when an invocation finds all
    /// others busy, up to the [reserved concurrency](crate::Function::reserved_concurrency), or when
    /// the only one has ended. Each has a Runtime API of its own. Its output goes into the log tail of
    /// its invocations. At most 32 idle processes are kept.
    ///
    /// The emulator kills a process at the timeout of an invocation, unless it handles
    /// [several](crate::Function::concurrency). It does not kill the children of the process.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`attach`](Self::attach), or the error of the operating system if the
    /// process cannot be started.
    ///
    /// # Examples
    ///
    /// ```
    /// # use presized_lambda_runtime::{Context, ErrorReport, json, run};
    /// # async fn handler(event: u32, _context: Context) -> Result<u32, ErrorReport> {
    /// #     println!("event {event}");
    /// #     Ok(event)
    /// # }
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// #     if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_some() {
    /// #         return Ok(run(json(handler)).await?);
    /// #     }
    /// use std::process::Command;
    /// use presized_lambda_emulator::{Emulator, Function};
    ///
    /// let emulator = Emulator::builder().function("report", Function::new()).start().await?;
    /// let mut command = Command::new("python3");
    /// command.args(["-m", "awslambdaric", "app.handler"]);
    /// # // That program may not be installed. This one is a function too.
    /// # let command = Command::new(std::env::current_exe()?);
    /// emulator.spawn("report", command)?;
    /// let client = emulator.client_builder().build()?;
    /// let response = client.invoke("report").json(&1).tail_log().send().await?;
    /// println!("{}", response.log_text().unwrap_or_default());
    /// # assert_eq!(response.payload, "1");
    /// # assert!(response.log_text().is_some_and(|log| log.contains("event 1")));
    /// # Ok(())
    /// # }
    /// ```
    pub fn spawn(&self, function: &str, command: std::process::Command) -> io::Result<()> {
        let function = self.deployed(function)?;
        self.scale(function, Spawned::new(command, function))
    }

    /// Ends the execution environments of a function that the emulator runs, so that the next
    /// invocation has a cold start.
    ///
    /// An environment with invocations ends after them. A process gets SIGTERM, and the runtime of a
    /// handler its shutdown signal. One that has not ended after 500 ms is killed, as Lambda does.
    /// On Windows, a process gets no signal before it is killed.
    ///
    /// # Errors
    ///
    /// Returns [`UnknownFunction`] if the emulator has no such function.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::convert::Infallible;
    /// use bytes::Bytes;
    /// use presized_lambda_emulator::{Emulator, Function};
    /// use presized_lambda_runtime::{Context, raw};
    ///
    /// let emulator = Emulator::builder().function("echo", Function::new()).start().await?;
    /// emulator.attach("echo", raw(|event: Bytes, _: Context| async { Ok::<_, Infallible>(event) }))?;
    /// let client = emulator.client_builder().build()?;
    /// for environments in [1, 1, 2] {
    ///     if environments == 2 {
    ///         emulator.make_cold("echo")?;
    ///     }
    ///     assert_eq!(client.invoke("echo").send().await?.payload, "{}");
    ///     assert_eq!(emulator.stats("echo")?.environments, environments);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn make_cold(&self, function: &str) -> Result<(), UnknownFunction> {
        self.deployed(function)?.make_cold();
        Ok(())
    }

    /// Refuses the next `calls` calls of a function with status 429.
    ///
    /// It replaces the number of an earlier call of this method.
    ///
    /// # Errors
    ///
    /// Returns [`UnknownFunction`] if the emulator has no such function.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use presized_lambda_emulator::{Emulator, Function};
    ///
    /// let emulator = Emulator::builder().function("busy", Function::new()).start().await?;
    /// emulator.throttle("busy", 1)?;
    /// let client = emulator.client_builder().max_attempts(1).build()?;
    /// let error = client.invoke("busy").send().await.unwrap_err();
    /// assert_eq!(error.as_service_error().map(|error| error.status.as_u16()), Some(429));
    /// assert_eq!(emulator.stats("busy")?.throttled, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn throttle(&self, function: &str, calls: u32) -> Result<(), UnknownFunction> {
        self.deployed(function)?.throttle(calls);
        Ok(())
    }

    /// Orders a fault for the calls or the runtimes of a function.
    ///
    /// # Errors
    ///
    /// Returns [`UnknownFunction`] if the emulator has no such function.
    pub fn inject(&self, function: &str, fault: Fault) -> Result<(), UnknownFunction> {
        self.deployed(function)?.faults().push(fault);
        Ok(())
    }

    /// Returns the counters of a function.
    ///
    /// # Errors
    ///
    /// Returns [`UnknownFunction`] if the emulator has no such function.
    pub fn stats(&self, function: &str) -> Result<Stats, UnknownFunction> {
        Ok(self.deployed(function)?.stats())
    }

    fn deployed(&self, name: &str) -> Result<&Arc<Deployed>, UnknownFunction> {
        self.functions.get(name).ok_or_else(|| UnknownFunction::new(name))
    }

    fn runtime_address(&self, name: &str) -> Result<SocketAddr, UnknownFunction> {
        self.runtime_apis.get(name).copied().ok_or_else(|| UnknownFunction::new(name))
    }

    /// Starts the first environment of a function, and later those that it needs.
    fn scale(&self, function: &Arc<Deployed>, runtimes: impl StartRuntime) -> io::Result<()> {
        if !function.claim() {
            let error = format!(
                "function {:?} already has a handler or a command: use another function",
                function.name()
            );
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, error));
        }
        let mut scaler = Scaler::new(function, runtimes);
        {
            let _tokio = self.tokio.enter();
            scaler.start_one().inspect_err(|_| function.release())?;
        }
        self.run(scaler.run());
        Ok(())
    }

    fn run(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.spawn_on(task, &self.tokio);
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // Requests over HTTP/2 run in tasks of hyper, which dropping `tasks` does not abort.
        for function in self.functions.values() {
            function.close();
        }
    }
}

impl fmt::Debug for Emulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emulator")
            .field("address", &self.address)
            .field("runtime_apis", &self.runtime_apis)
            .finish_non_exhaustive()
    }
}
