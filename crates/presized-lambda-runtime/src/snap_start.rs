//! What a function does before a snapshot is taken of it, and after it is restored from that.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use super::error::ErrorKind;
use super::panics::caught;
use super::{Error, ErrorReport, RuntimeClient};

/// What is to be done around the snapshot.
#[derive(Debug, Default)]
pub(super) struct SnapStart {
    pub(super) before_checkpoint: Option<Hook>,
    pub(super) after_restore: Option<Hook>,
}

/// Something that is done once, and can fail.
pub(super) struct Hook(Box<dyn FnOnce() -> Doing + Send>);

type Doing = Pin<Box<dyn Future<Output = Result<(), ErrorReport>> + Send>>;

impl SnapStart {
    /// Returns when the function has been restored, and is ready for invocations.
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
            let doing = hook();
            Box::pin(async { doing.await.map_err(Into::into) })
        }))
    }

    async fn run(hook: Option<Self>) -> Result<(), ErrorReport> {
        match hook {
            Some(Self(hook)) => caught(async { hook().await }).await.and_then(|done| done),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// That the report did not get through is no reason to hide why there was one.
fn failed(reported: Result<(), Error>, report: ErrorReport) -> Error {
    if let Err(error) = reported {
        tracing::warn!(%error, "a failure was not reported");
    }
    Error::new(ErrorKind::Hook(report))
}
