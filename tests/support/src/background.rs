//! A thread that runs a server.

use std::future::Future;
use std::thread::{self, JoinHandle};

use tokio::runtime;
use tokio::sync::oneshot;

/// Runs a future on its own thread until it is dropped.
#[derive(Debug)]
pub struct Background {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts the thread, which gets this name, with a runtime of its own.
    pub fn start(name: &str, future: impl Future<Output = ()> + Send + 'static) -> Self {
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = future => {}
                }
            });
        });
        Self { stop: Some(stop), thread: Some(thread.expect("a thread")) }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the server was printed, and made a request fail.
            let _ = thread.join();
        }
    }
}
