//! The emulator, as a test uses it.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use presized_lambda_invoke::{Client, ClientBuilder, Credentials};
use presized_lambda_runtime::wire::EVENT_MAX;
use presized_lambda_runtime::{Handler, Runtime, RuntimeClient};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::deployed::Deployed;
use crate::invoke_api::Functions;
use crate::names::REGION;
use crate::{EmulatorBuilder, Stats, UnknownFunction, process};

/// A Lambda on the loopback interface.
///
/// It serves the Invoke API for all its functions, and one Runtime API for each function. Dropping
/// it closes all connections and kills the processes that it has started.
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
    /// A runtime expects it in the environment variable `AWS_LAMBDA_RUNTIME_API`. Run one runtime
    /// for each function.
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

    /// Runs `handler` for the events of a function, in a task of the emulator.
    ///
    /// The task is a [`Runtime`] that uses the Runtime API of the function over the loopback
    /// interface, as a deployed one does.
    ///
    /// An invocation ends at its timeout, but its handler goes on. If the function handles one
    /// event at a time, the next event waits for the handler.
    ///
    /// # Errors
    ///
    /// Returns [`NotFound`](io::ErrorKind::NotFound) if the emulator has no such function, or
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the function has a runtime.
    pub fn attach(&self, function: &str, handler: impl Handler) -> io::Result<()> {
        let runtime_api = self.runtime_address(function)?;
        let function = self.deployed(function)?;
        let client = RuntimeClient::builder()
            .endpoint(runtime_api.to_string())
            .reader(function.reader(EVENT_MAX))
            .build()
            .map_err(io::Error::other)?;
        // The process of the test handles its signals.
        let runtime =
            Runtime::new(handler).client(client).shutdown(future::pending()).snap_start(false);
        let runtime = match function.options().concurrency {
            Some(n) => runtime.concurrency(n),
            None => runtime,
        };
        claim(function)?;
        let name = function.name().to_owned();
        self.run(async move {
            if let Err(error) = runtime.run().await {
                let error: &(dyn Error + 'static) = &error;
                tracing::error!(function = name, error, "runtime has ended");
            }
        });
        Ok(())
    }

    /// Starts a process that polls the Runtime API of a function, with the
    /// [environment](https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html)
    /// of a function.
    ///
    /// Its output goes into the log tail of its invocations.
    ///
    /// A process that has ended is started again for the next event. The emulator kills it at the
    /// timeout of an invocation, unless it handles [several](crate::Function::concurrency). It
    /// does not kill the children of the process.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`attach`](Self::attach), or the error of the operating system if the
    /// process cannot be started.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::process::Command;
    /// use presized_lambda_emulator::{Emulator, Function};
    ///
    /// let emulator = Emulator::builder().function("report", Function::new()).start().await?;
    /// let mut command = Command::new("python3");
    /// command.args(["-m", "awslambdaric", "app.handler"]);
    /// emulator.spawn("report", command)?;
    /// let client = emulator.client_builder().build()?;
    /// let response = client.invoke("report").json(&1).tail_log().send().await?;
    /// println!("{}", response.log_text().unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    pub fn spawn(&self, function: &str, command: std::process::Command) -> io::Result<()> {
        let runtime_api = self.runtime_address(function)?;
        let function = self.deployed(function)?;
        let mut command = process::command(command, function, runtime_api);
        claim(function)?;
        let child = {
            let _tokio = self.tokio.enter();
            command.spawn().inspect_err(|_| function.release())?
        };
        self.run(process::supervise(Arc::clone(function), command, child));
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

/// Reserves the function for a runtime that is about to start.
fn claim(function: &Deployed) -> io::Result<()> {
    if function.claim() {
        return Ok(());
    }
    let error = format!("function {:?} already has a runtime", function.name());
    Err(io::Error::new(io::ErrorKind::AlreadyExists, error))
}
