//! The hooks of SnapStart.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use super::panics::caught;
use super::{Error, ErrorKind, ErrorReport, RuntimeClient};

/// The hooks before the snapshot and after the restoration.
#[derive(Debug, Default)]
pub(super) struct SnapStart {
    pub(super) before_checkpoint: Option<Hook>,
    pub(super) after_restore: Option<Hook>,
}

/// A function that is called once and may fail.
pub(super) struct Hook(Box<dyn FnOnce() -> HookFuture + Send>);

type HookFuture = Pin<Box<dyn Future<Output = Result<(), ErrorReport>> + Send>>;

impl SnapStart {
    /// Runs the hooks around the snapshot. Returns when the process was restored.
    pub(super) async fn restore(self, client: &RuntimeClient) -> Result<(), Error> {
        if let Err(report) = Hook::run(self.before_checkpoint).await {
            return Err(failed(client.init_error(&report).await, report));
        }
        client.restore_next().await?;
        if let Err(report) = Hook::run(self.after_restore).await {
            return Err(failed(client.restore_error(&report).await, report));
        }
        Ok(())
    }
}

impl Hook {
    pub(super) fn new<Fut, E>(hook: impl FnOnce() -> Fut + Send + 'static) -> Self
    where
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<ErrorReport>,
    {
        Self(Box::new(|| {
            let future = hook();
            Box::pin(async { future.await.map_err(Into::into) })
        }))
    }

    async fn run(hook: Option<Self>) -> Result<(), ErrorReport> {
        match hook {
            Some(Self(hook)) => caught(async { hook().await }).await.and_then(|result| result),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// Returns the error of a hook. An error of its report is only logged.
fn failed(reported: Result<(), Error>, report: ErrorReport) -> Error {
    if let Err(error) = reported {
        tracing::warn!(error = error.as_dyn(), "failure of a SnapStart hook was not reported");
    }
    Error::new(ErrorKind::Hook(report))
}
