//! The thread of a proxy or a server, and the count of its sockets.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{self, JoinHandle};

use tokio::runtime;
use tokio::sync::oneshot;

/// Runs a future on its own thread until it is dropped.
#[derive(Debug)]
pub(crate) struct Background {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    pub(crate) fn start(name: &str, future: impl Future<Output = ()> + Send + 'static) -> Self {
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = future => {}
                }
            });
        });
        Self { stop: Some(stop), thread: Some(thread.unwrap()) }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The panic has been printed, and its calls fail.
            let _ = thread.join();
        }
    }
}

/// Increments a count while it exists.
#[derive(Debug)]
pub(crate) struct Open(Arc<AtomicUsize>);

impl Open {
    pub(crate) fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
