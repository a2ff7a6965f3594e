//! The output of a process, which becomes the log of its function.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::oneshot;
use tokio::task::consume_budget;

use crate::deployed::Deployed;
use crate::environment::{EnvironmentId, Flushes};

/// Writes the output of a process into the log of the function.
///
/// A flush is requested after the process has done something else, such as send a response. The
/// pipes hold what it wrote before. The flush is done when the pipes are empty, or when as many
/// bytes were read as they hold, because a process may write without end.
pub(super) async fn read_output(
    function: Arc<Deployed>,
    id: EnvironmentId,
    mut stdout: Option<impl AsyncRead + Unpin>,
    mut stderr: Option<impl AsyncRead + Unpin>,
    mut flushes: Flushes,
) {
    let (mut out, mut err) = ([0; READ_AT_ONCE], [0; READ_AT_ONCE]);
    // The current flush, and how many bytes to read for it.
    let mut flushing: Option<(oneshot::Sender<()>, usize)> = None;
    loop {
        let reading = async {
            tokio::select! {
                read = read(&mut stdout, &mut out) => {
                    function.log(id, &out[..read]);
                    read
                }
                read = read(&mut stderr, &mut err) => {
                    function.log(id, &err[..read]);
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
            // The pipes are empty. If the read is only pending because this task has used up its
            // cooperative budget, this is pending too.
            () = consume_budget(), if flushing.is_some() => PIPES,
        };
        if let Some((done, left)) = flushing.take() {
            match left.checked_sub(read) {
                Some(left @ 1..) => flushing = Some((done, left)),
                // The requester may have stopped waiting.
                _ => drop(done.send(())),
            }
        }
    }
}

/// Reads bytes. After the end of the source it never returns.
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

/// The capacity in bytes of two pipes on Linux, unless the process enlarges them (pipe(7)).
const PIPES: usize = 2 * (64 << 10);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use presized::BufferPool;
    use tokio::io::{Empty, repeat};
    use tokio::time::timeout;

    use super::*;
    use crate::Function;
    use crate::environment::RuntimeHandle;

    #[tokio::test]
    async fn flush_ends_although_the_process_writes_without_end() {
        let function = Deployed::new("fn".into(), Function::new(), BufferPool::new(0));
        let function = Arc::new(function);
        let (handle, _orders, flushes) = RuntimeHandle::new();
        let id = function.environment_started(handle);
        let (stdout, stderr) = (Some(repeat(b'x')), None::<Empty>);
        let reading = tokio::spawn(read_output(Arc::clone(&function), id, stdout, stderr, flushes));
        for _ in 0..3 {
            timeout(Duration::from_secs(20), function.flush_log(id)).await.expect("flush hangs");
        }
        reading.abort();
    }
}
