//! The process that runs a function.

mod handle;
mod output;

use std::io;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;

use presized_lambda_runtime::wire::{
    CONCURRENCY_VARIABLE, ENDPOINT_VARIABLE, INITIALIZATION_VARIABLE,
};
use tokio::process::{Child, Command};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use self::output::read_output;
use crate::deployed::Deployed;
use crate::names::{LATEST, REGION};

pub(crate) use self::handle::ProcessHandle;

/// Adds the environment of a function to a command
/// (<https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html>).
pub(crate) fn command(
    command: std::process::Command,
    function: &Deployed,
    runtime_api: SocketAddr,
) -> Command {
    let name = function.name();
    let mut command = Command::from(command);
    command
        .env(ENDPOINT_VARIABLE, runtime_api.to_string())
        .env("AWS_LAMBDA_FUNCTION_NAME", name)
        .env("AWS_LAMBDA_FUNCTION_VERSION", LATEST)
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", function.options().memory_mb.to_string())
        .env(INITIALIZATION_VARIABLE, "on-demand")
        .env("AWS_LAMBDA_LOG_GROUP_NAME", format!("/aws/lambda/{name}"))
        .env("AWS_LAMBDA_LOG_STREAM_NAME", "emulator")
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

/// Runs a process, and starts it again for the next event when it has ended, as Lambda does.
pub(crate) async fn supervise(function: Arc<Deployed>, mut command: Command, mut child: Child) {
    loop {
        let status = match run(&function, child).await {
            Ok(status) => status,
            Err(error) => error.to_string(),
        };
        function.process_ended(&status);
        child = loop {
            function.runtime_needed().await;
            match command.spawn() {
                Ok(child) => break child,
                Err(error) => function.process_ended(&error.to_string()),
            }
        };
    }
}

/// Waits until a process has ended, and returns its exit status.
async fn run(function: &Arc<Deployed>, mut child: Child) -> io::Result<String> {
    let stop = Arc::new(Notify::new());
    let (flush, flushes) = mpsc::channel(1);
    function.process_started(ProcessHandle::new(Arc::clone(&stop), flush));
    // Aborts the task when this function returns.
    let mut reading = JoinSet::new();
    reading.spawn(read_output(
        Arc::clone(function),
        child.stdout.take(),
        child.stderr.take(),
        flushes,
    ));
    let status = tokio::select! {
        status = child.wait() => status?,
        () = stop.notified() => {
            child.start_kill()?;
            child.wait().await?
        }
    };
    function.flush_log().await;
    Ok(status.to_string())
}
