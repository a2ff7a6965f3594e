//! A function that is a process of its own.

use std::io;
use std::mem;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::{JoinSet, consume_budget};

use super::deployed::Deployed;
use super::failure::Failure;
use super::invocation::{End, RequestId};
use super::names::{LATEST, REGION};

/// The process of a function, as long as it runs.
pub(super) struct Process {
    /// Ends it.
    pub(super) stop: Arc<Notify>,
    /// Lets all be read that it has written so far.
    pub(super) flush: mpsc::Sender<oneshot::Sender<()>>,
}

/// The command of a function, in the environment that Lambda gives it
/// (<https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html>).
pub(super) fn command(
    command: std::process::Command,
    function: &Deployed,
    runtime_api: SocketAddr,
) -> Command {
    let mut command = Command::from(command);
    command
        .env("AWS_LAMBDA_RUNTIME_API", runtime_api.to_string())
        .env("AWS_LAMBDA_FUNCTION_NAME", &function.name)
        .env("AWS_LAMBDA_FUNCTION_VERSION", LATEST)
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", function.options.memory_mb.to_string())
        .env("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
        .env("AWS_LAMBDA_LOG_GROUP_NAME", format!("/aws/lambda/{}", function.name))
        .env("AWS_LAMBDA_LOG_STREAM_NAME", "emulator")
        .env("AWS_REGION", REGION)
        .env("AWS_DEFAULT_REGION", REGION)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    match function.options.concurrency {
        Some(n) => command.env("AWS_LAMBDA_MAX_CONCURRENCY", n.to_string()),
        None => command.env_remove("AWS_LAMBDA_MAX_CONCURRENCY"),
    };
    command
}

/// Keeps a process running. One that has ended is started again when there is an event for it,
/// as Lambda does.
pub(super) async fn supervise(function: Arc<Deployed>, mut command: Command, mut child: Child) {
    loop {
        let how = match run(&function, child).await {
            Ok(status) => status,
            Err(error) => error.to_string(),
        };
        function.process_ended(&how);
        child = loop {
            function.wanted().await;
            match command.spawn() {
                Ok(child) => break child,
                Err(error) => function.process_ended(&error.to_string()),
            }
        };
    }
}

impl Deployed {
    pub(super) fn process_started(&self, process: Process) {
        let mut inner = self.lock();
        inner.process = Some(process);
        inner.initialised = false;
        inner.init_failure = None;
    }

    /// The process has ended, or could not be started: so have its invocations. Those that wait
    /// have the next one to wait for, unless this one has not got as far as to ask for them.
    pub(super) fn process_ended(self: &Arc<Self>, how: &str) {
        let mut inner = self.lock();
        inner.process = None;
        // Their connections may not have been seen to close yet.
        inner.slots.clear();
        let running: Vec<RequestId> = inner.running.keys().cloned().collect();
        for id in running {
            let failure = Failure::exited(&id, how);
            self.end(&mut inner, &id, End::Failed(failure));
        }
        if !mem::take(&mut inner.initialised) {
            let reported = inner.init_failure.take();
            inner.fail_queue(|id| reported.clone().unwrap_or_else(|| Failure::exited(id, how)));
        }
    }

    /// Waits until there is a call that no runtime has taken.
    pub(super) async fn wanted(&self) {
        while self.lock().queue.is_empty() {
            self.invoked.notified().await;
        }
    }

    /// The process has written something.
    pub(super) fn log(&self, output: &[u8]) {
        let mut inner = self.lock();
        if inner.running.is_empty() {
            inner.idle_log.push(output);
        }
        for running in inner.running.values_mut() {
            if let Some(log) = &mut running.log {
                log.push(output);
            }
        }
    }

    /// Waits until what the process has written before is in the log.
    pub(super) async fn settle_log(&self) {
        let flush = self.lock().process.as_ref().map(|process| process.flush.clone());
        if let Some(flush) = flush {
            let (done, settled) = oneshot::channel();
            // Whoever would read it may be gone, and so is the rest of the log then.
            if flush.send(done).await.is_ok() {
                let _ = settled.await;
            }
        }
    }
}

/// Runs a process to its end, and tells how it ended.
async fn run(function: &Arc<Deployed>, mut child: Child) -> io::Result<String> {
    let stop = Arc::new(Notify::new());
    let (flush, flushes) = mpsc::channel(1);
    function.process_started(Process { stop: Arc::clone(&stop), flush });
    // Ends with this.
    let mut pump = JoinSet::new();
    pump.spawn(read_output(
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
    function.settle_log().await;
    Ok(status.to_string())
}

/// Puts what a process writes into the log of the function.
///
/// Whoever asks for a flush has heard of something that the process did after it wrote. What it
/// wrote is readable then, and read before the flush is done: all that is there, or as much as can
/// have been there, of a process that writes without end.
async fn read_output(
    function: Arc<Deployed>,
    mut stdout: Option<impl AsyncRead + Unpin>,
    mut stderr: Option<impl AsyncRead + Unpin>,
    mut flushes: mpsc::Receiver<oneshot::Sender<()>>,
) {
    let (mut out, mut err) = ([0; READ_AT_ONCE], [0; READ_AT_ONCE]);
    // Who waits, and how many bytes are to be read before.
    let mut flushing: Option<(oneshot::Sender<()>, usize)> = None;
    loop {
        let reading = async {
            tokio::select! {
                read = read(&mut stdout, &mut out) => {
                    function.log(&out[..read]);
                    read
                }
                read = read(&mut stderr, &mut err) => {
                    function.log(&err[..read]);
                    read
                }
            }
        };
        let read = tokio::select! {
            biased;
            Some(done) = flushes.recv(), if flushing.is_none() => {
                flushing = Some((done, PIPES));
                continue;
            }
            read = reading => read,
            // Nothing is there. It waits as well where reading does only because this task has had
            // its share of time.
            () = consume_budget(), if flushing.is_some() => PIPES,
        };
        if let Some((done, left)) = flushing.take() {
            match left.checked_sub(read) {
                Some(left @ 1..) => flushing = Some((done, left)),
                // Who asks may have stopped to wait.
                _ => drop(done.send(())),
            }
        }
    }
}

/// Bytes that were read; never comes back after the end.
async fn read(source: &mut Option<impl AsyncRead + Unpin>, buffer: &mut [u8]) -> usize {
    if let Some(open) = source {
        if let Ok(read @ 1..) = open.read(buffer).await {
            return read;
        }
        *source = None;
    }
    std::future::pending().await
}

const READ_AT_ONCE: usize = 4096;

/// What two pipes hold on Linux, unless somebody made them larger (pipe(7)).
const PIPES: usize = 2 * (64 << 10);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{Empty, repeat};
    use tokio::time::timeout;

    use super::*;
    use crate::Function;
    use presized::BufferPool;

    /// All that an invocation waits for before it ends.
    #[tokio::test]
    async fn a_process_that_writes_without_end_is_not_waited_for() {
        let function = Deployed::new("fn".into(), Function::new(), BufferPool::new(0));
        let function = Arc::new(function);
        let (flush, flushes) = mpsc::channel(1);
        function.process_started(Process { stop: Arc::default(), flush });
        let (stdout, stderr) = (Some(repeat(b'x')), None::<Empty>);
        let reading = tokio::spawn(read_output(Arc::clone(&function), stdout, stderr, flushes));
        for _ in 0..3 {
            timeout(Duration::from_secs(20), function.settle_log()).await.expect("an end in time");
        }
        reading.abort();
    }
}
