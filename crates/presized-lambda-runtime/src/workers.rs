//! Several tasks that share a worker.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::shutdown::until;
use super::worker::Worker;
use super::{Error, ErrorKind, Handler};

/// Serves invocations in `concurrency` tasks until `stop` is ready or all tasks have ended.
///
/// # Errors
///
/// Returns the first error if all tasks ended before `stop` was ready.
pub(super) async fn serve<H: Handler>(
    worker: Arc<Worker<H>>,
    concurrency: usize,
    mut stop: Pin<Box<dyn Future<Output = ()> + Send>>,
) -> Result<(), Error> {
    let (stopping, _) = watch::channel(false);
    let mut running = JoinSet::new();
    for _ in 0..concurrency {
        let (worker, mut stopped) = (Arc::clone(&worker), stopping.subscribe());
        running.spawn(async move {
            let stop = pin!(async {
                // An error means that the sender was dropped, which is a stop as well.
                let _ = stopped.wait_for(|stop| *stop).await;
            });
            worker.serve(stop).await
        });
    }
    let mut failure = None;
    while let Some(ended) = until(stop.as_mut(), running.join_next()).await {
        let Some(ended) = ended else { return failure.map_or(Ok(()), Err) };
        let ended = ended.unwrap_or_else(|lost| Err(Error::new(ErrorKind::Worker(lost.into()))));
        if let Err(error) = ended {
            tracing::error!(error = error.as_dyn(), left = running.len(), "worker failed");
            failure.get_or_insert(error);
        }
    }
    stopping.send_replace(true);
    while let Some(ended) = running.join_next().await {
        if let Ok(Err(error)) = ended {
            tracing::error!(error = error.as_dyn(), "worker failed");
        }
    }
    Ok(())
}
