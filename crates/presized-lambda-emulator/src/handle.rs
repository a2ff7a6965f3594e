//! An emulator that serves.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::deployed::Deployed;
use super::invoke_api::Functions;
use super::names::REGION;
use super::{EmulatorBuilder, Stats, process};
use presized::Reader;
use presized_lambda_invoke::{Client, ClientBuilder, Credentials};
use presized_lambda_runtime::{EVENT_MAX, Handler, Runtime, RuntimeClient};

/// A Lambda on the loopback interface, with a few functions.
///
/// It serves the Invoke API for all of them, and the Runtime API for each. Dropping it closes
/// all connections and ends the processes that it has started.
#[must_use = "dropping it ends it"]
pub struct Emulator {
    /// Of the Invoke API.
    pub(super) address: SocketAddr,
    pub(super) functions: Arc<Functions>,
    pub(super) runtime_apis: BTreeMap<String, SocketAddr>,
    /// Where its tasks run, so that methods can be called from anywhere.
    pub(super) runtime: Handle,
    pub(super) tasks: Mutex<JoinSet<()>>,
}

/// An emulator has no function of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFunction {
    name: String,
}

impl Emulator {
    /// An emulator without functions.
    pub fn builder() -> EmulatorBuilder {
        EmulatorBuilder::default()
    }

    /// The endpoint of the Invoke API, such as `http://127.0.0.1:49152`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What `AWS_LAMBDA_RUNTIME_API` is to be for the runtime of a function, such as
    /// `127.0.0.1:49153`. A function has one runtime.
    ///
    /// # Errors
    ///
    /// Where there is no such function.
    pub fn runtime_api(&self, function: &str) -> Result<String, UnknownFunction> {
        self.runtime_address(function).map(|address| address.to_string())
    }

    /// The settings of a client that calls the functions: endpoint, region, and credentials
    /// that nobody checks.
    pub fn client_builder(&self) -> ClientBuilder {
        Client::builder()
            .endpoint(self.url())
            .region(REGION)
            .credentials(Credentials::new("emulator", "emulator", None, None, "emulator"))
    }

    /// Lets `handler` answer the calls of a function, in a task, by a
    /// [`Runtime`] that has the Runtime API between itself and the emulator as any other has.
    ///
    /// An invocation that takes too long is given up, and the handler is not: where it serves one
    /// at a time, the next one waits for it.
    ///
    /// # Errors
    ///
    /// Where there is no such function ([`NotFound`](io::ErrorKind::NotFound)), or it has a
    /// runtime ([`AlreadyExists`](io::ErrorKind::AlreadyExists)).
    pub fn attach(&self, function: &str, handler: impl Handler) -> io::Result<()> {
        let runtime_api = self.runtime_address(function)?;
        let function = self.deployed(function)?;
        let client = RuntimeClient::builder()
            .endpoint(runtime_api.to_string())
            .reader(Reader::new(EVENT_MAX).pool(&function.pool))
            .build()
            .map_err(io::Error::other)?;
        // Signals are for the program that it is a part of.
        let runtime =
            Runtime::new(handler).client(client).shutdown(future::pending()).snap_start(false);
        let runtime = match function.options.concurrency {
            Some(n) => runtime.concurrency(n),
            None => runtime,
        };
        claim(function)?;
        let name = function.name.clone();
        self.run(async move {
            if let Err(error) = runtime.run().await {
                tracing::error!(function = name, %error, "runtime has ended");
            }
        });
        Ok(())
    }

    /// Starts a process that polls for the events of a function, with
    /// [the environment](https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html)
    /// of a function. What it writes goes into the log tail of its invocations.
    ///
    /// It is ended where an invocation takes too long, unless it has
    /// [several](super::Function::concurrency). A process that has ended is started again for the
    /// next event. Processes that it starts itself are left alone.
    ///
    /// # Errors
    ///
    /// As of [`attach`](Self::attach), or where the process cannot be started.
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
    /// let answer = client.invoke("report").json(&1).tail_log().send().await?;
    /// println!("{}", answer.log_text().unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    pub fn spawn(&self, function: &str, command: std::process::Command) -> io::Result<()> {
        let runtime_api = self.runtime_address(function)?;
        let function = self.deployed(function)?;
        let mut command = process::command(command, function, runtime_api);
        claim(function)?;
        let child = {
            let _tokio = self.runtime.enter();
            command.spawn().inspect_err(|_| function.release())?
        };
        self.run(process::supervise(Arc::clone(function), command, child));
        Ok(())
    }

    /// Refuses the next `calls` calls of a function, with status 429, however many were still to be
    /// refused before.
    ///
    /// # Errors
    ///
    /// Where there is no such function.
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

    /// What has become of the calls of a function so far.
    ///
    /// # Errors
    ///
    /// Where there is no such function.
    pub fn stats(&self, function: &str) -> Result<Stats, UnknownFunction> {
        Ok(self.deployed(function)?.stats())
    }

    fn deployed(&self, name: &str) -> Result<&Arc<Deployed>, UnknownFunction> {
        self.functions.get(name).ok_or_else(|| UnknownFunction { name: name.to_owned() })
    }

    fn runtime_address(&self, name: &str) -> Result<SocketAddr, UnknownFunction> {
        let address = self.runtime_apis.get(name).copied();
        address.ok_or_else(|| UnknownFunction { name: name.to_owned() })
    }

    fn run(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.spawn_on(task, &self.runtime);
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // What runs over HTTP/2 is no task of this, and ends by itself.
        for function in self.functions.values() {
            function.close();
        }
    }
}

/// Makes sure that nobody else runs the function.
fn claim(function: &Deployed) -> io::Result<()> {
    if function.claim() {
        return Ok(());
    }
    let error = format!("function {:?} has a runtime", function.name);
    Err(io::Error::new(io::ErrorKind::AlreadyExists, error))
}

impl fmt::Debug for Emulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emulator")
            .field("address", &self.address)
            .field("runtime_apis", &self.runtime_apis)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for UnknownFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "emulator has no function {:?}", self.name)
    }
}

impl Error for UnknownFunction {}

impl From<UnknownFunction> for io::Error {
    fn from(error: UnknownFunction) -> Self {
        Self::new(io::ErrorKind::NotFound, error)
    }
}
