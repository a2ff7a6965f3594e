//! The control of a running process.

use std::sync::Arc;

use tokio::sync::{Notify, mpsc, oneshot};

/// Stops a process and flushes its output.
#[derive(Clone)]
pub(crate) struct ProcessHandle {
    stop: Arc<Notify>,
    flush: mpsc::Sender<oneshot::Sender<()>>,
}

impl ProcessHandle {
    pub(crate) fn new(stop: Arc<Notify>, flush: mpsc::Sender<oneshot::Sender<()>>) -> Self {
        Self { stop, flush }
    }

    /// Kills the process.
    pub(crate) fn stop(&self) {
        self.stop.notify_one();
    }

    /// Waits until everything that the process has written so far is in the log.
    pub(crate) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        // If the output is no longer read, the rest of the log is lost.
        if self.flush.send(done).await.is_ok() {
            let _ = flushed.await;
        }
    }
}
