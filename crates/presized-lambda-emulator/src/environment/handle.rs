//! The control of a runtime that the emulator runs.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

/// Ends a runtime, and flushes its output.
#[derive(Clone)]
pub(crate) struct RuntimeHandle {
    order: Arc<watch::Sender<Order>>,
    freeze: Arc<watch::Sender<Duration>>,
    flush: mpsc::Sender<oneshot::Sender<()>>,
}

/// The orders that a runtime gets.
#[derive(Clone)]
pub(crate) struct Orders {
    order: watch::Receiver<Order>,
    freeze: watch::Receiver<Duration>,
}

/// An order to a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Run,
    ShutDown,
    Die,
}

/// The requests to flush the output of a runtime.
pub(crate) type Flushes = mpsc::Receiver<oneshot::Sender<()>>;

impl RuntimeHandle {
    /// Returns a handle, and the receivers of the runtime.
    pub(crate) fn new() -> (Self, Orders, Flushes) {
        let (order, orders) = watch::channel(Order::Run);
        let (freeze, freezes) = watch::channel(Duration::ZERO);
        let (flush, flushes) = mpsc::channel(1);
        let handle = Self { order: Arc::new(order), freeze: Arc::new(freeze), flush };
        (handle, Orders { order: orders, freeze: freezes }, flushes)
    }

    /// Tells the runtime to end, and kills it if it takes too long.
    pub(crate) fn shut_down(&self) {
        self.send(Order::ShutDown);
    }

    /// Kills the runtime.
    pub(crate) fn kill(&self) {
        self.send(Order::Die);
    }

    /// Stops the work of the runtime for `time`.
    pub(crate) fn freeze(&self, time: Duration) {
        self.freeze.send_replace(time);
    }

    fn send(&self, order: Order) {
        self.order.send_if_modified(|current| {
            let is_new = *current < order;
            *current = order.max(*current);
            is_new
        });
    }

    /// Waits until everything that the runtime has written so far is in the log.
    pub(crate) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        // If the output is not read, the rest of the log is lost.
        if self.flush.send(done).await.is_ok() {
            let _ = flushed.await;
        }
    }
}

impl Orders {
    /// Waits until the runtime is to end.
    pub(crate) async fn shut_down(&mut self) {
        // It fails if the environment has been forgotten, which is an end as well.
        let _ = self.order.wait_for(|order| *order >= Order::ShutDown).await;
    }

    /// Waits until the runtime is to be killed.
    pub(crate) async fn killed(&mut self) {
        let _ = self.order.wait_for(|order| *order >= Order::Die).await;
    }

    /// Waits until the runtime is to be frozen, and returns for how long.
    pub(crate) async fn frozen(&mut self) -> Duration {
        if self.freeze.changed().await.is_err() {
            // The environment has been forgotten, and ends.
            pending().await
        }
        *self.freeze.borrow_and_update()
    }
}
