//! The process that runs a function.

mod output;

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use presized_lambda_runtime::wire::{
    CONCURRENCY_VARIABLE, ENDPOINT_VARIABLE, INITIALIZATION_VARIABLE, SNAP_START,
};
use tokio::process::{Child, Command};
use tokio::select;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use self::output::read_output;
use crate::deployed::Deployed;
use crate::environment::{EnvironmentId, Flushes, Orders, SHUTDOWN, StartRuntime, Starting};
use crate::names::{LATEST, LOG_STREAM, REGION, log_group};

/// A command, which each environment runs in a process of its own.
pub(crate) struct Spawned {
    command: Command,
}

impl Spawned {
    pub(crate) fn new(command: std::process::Command, function: &Deployed) -> Self {
        Self { command: self::command(command, function) }
    }
}

impl StartRuntime for Spawned {
    fn start(
        &mut self,
        environment: Starting<'_>,
    ) -> io::Result<impl Future<Output = String> + Send + 'static> {
        let Starting { function, id, runtime_api, orders, flushes } = environment;
        let child = self.command.env(ENDPOINT_VARIABLE, runtime_api.to_string()).spawn()?;
        let function = Arc::clone(function);
        Ok(async move {
            match run(&function, id, child, orders, flushes).await {
                Ok(status) => status,
                Err(error) => error.to_string(),
            }
        })
    }
}

/// Adds the environment of a function to a command
/// (<https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html>).
fn command(command: std::process::Command, function: &Deployed) -> Command {
    let name = function.name();
    let initialization = if function.options().snap_start { SNAP_START } else { "on-demand" };
    let mut command = Command::from(command);
    command
        .env("AWS_LAMBDA_FUNCTION_NAME", name)
        .env("AWS_LAMBDA_FUNCTION_VERSION", LATEST)
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", function.options().memory_mb.to_string())
        .env(INITIALIZATION_VARIABLE, initialization)
        .env("AWS_LAMBDA_LOG_GROUP_NAME", log_group(name))
        .env("AWS_LAMBDA_LOG_STREAM_NAME", LOG_STREAM)
        .env("AWS_REGION", REGION)
        .env("AWS_DEFAULT_REGION", REGION)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    match function.options().concurrency {
        Some(n) => command.env(CONCURRENCY_VARIABLE, n.to_string()),
        None => command.env_remove(CONCURRENCY_VARIABLE),
    };
    command
}

/// Runs a process until its end, and returns its exit status.
async fn run(
    function: &Arc<Deployed>,
    id: EnvironmentId,
    mut child: Child,
    mut orders: Orders,
    flushes: Flushes,
) -> io::Result<String> {
    let output = (child.stdout.take(), child.stderr.take());
    // It ends with this future, after the output is in the log.
    let mut reading = JoinSet::new();
    reading.spawn(read_output(Arc::clone(function), id, output.0, output.1, flushes));
    let (mut killed, mut freezes) = (orders.clone(), orders.clone());
    let status = loop {
        select! {
            status = child.wait() => break status?,
            () = killed.killed() => break kill(&mut child).await?,
            () = orders.shut_down() => {
                signal(&child, Signal::Terminate);
                match timeout(SHUTDOWN, child.wait()).await {
                    Ok(status) => break status?,
                    Err(_) => break kill(&mut child).await?,
                }
            }
            time = freezes.frozen() => {
                signal(&child, Signal::Stop);
                select! {
                    () = killed.killed() => {}
                    () = orders.shut_down() => {}
                    () = sleep(time) => {}
                }
                signal(&child, Signal::Continue);
            }
        }
    };
    function.flush_log(id).await;
    Ok(status.to_string())
}

async fn kill(child: &mut Child) -> io::Result<ExitStatus> {
    child.start_kill()?;
    child.wait().await
}

/// A signal to a process.
#[derive(Clone, Copy, Debug)]
enum Signal {
    Terminate,
    Stop,
    Continue,
}

#[cfg(unix)]
fn signal(child: &Child, signal: Signal) {
    use rustix::process::{self, Pid, kill_process};
    let signal = match signal {
        Signal::Terminate => process::Signal::TERM,
        Signal::Stop => process::Signal::STOP,
        Signal::Continue => process::Signal::CONT,
    };
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It fails if the process has ended.
        let _ = kill_process(pid, signal);
    }
}

/// Windows has no such signals. The process is killed later, and is not frozen.
#[cfg(not(unix))]
fn signal(_: &Child, _: Signal) {}
