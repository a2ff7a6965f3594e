//! The recorder of a call: it reports the call to the hook and to `tracing`.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::StatusCode;
use tracing::{Span, field};

use super::budget_wait::BudgetWait;
use super::{CallReport, Error, Outcome};

/// The function that receives call reports.
#[derive(Clone)]
pub(super) struct Hook(Arc<dyn Fn(&CallReport<'_>) + Send + Sync>);

impl Hook {
    pub(super) fn new(hook: impl Fn(&CallReport<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hook))
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// Collects the report of one call, and sends it when it is dropped.
#[derive(Debug)]
pub(super) struct Recorder {
    hook: Option<Hook>,
    span: Span,
    function: String,
    qualifier: Option<String>,
    begin: Instant,
    outcome: Outcome,
    status: Option<StatusCode>,
    request_id: Option<String>,
    attempts: u32,
    request_bytes: u64,
    response_bytes: u64,
    budget_wait: Option<Arc<BudgetWait>>,
}

impl Recorder {
    pub(super) fn new(
        hook: Option<Hook>,
        function: String,
        qualifier: Option<String>,
        request_bytes: usize,
        budget_wait: Option<Arc<BudgetWait>>,
    ) -> Self {
        let span = tracing::info_span!(
            "lambda.invoke",
            function,
            qualifier,
            request_bytes,
            attempts = field::Empty,
            status = field::Empty,
            request_id = field::Empty,
            response_bytes = field::Empty,
            outcome = field::Empty,
        );
        Self {
            hook,
            span,
            function,
            qualifier,
            begin: Instant::now(),
            outcome: Outcome::Cancelled,
            status: None,
            request_id: None,
            attempts: 0,
            request_bytes: request_bytes as u64,
            response_bytes: 0,
            budget_wait,
        }
    }

    /// Returns the span of the call.
    pub(super) fn span(&self) -> &Span {
        &self.span
    }

    /// Returns the time since the call began.
    pub(super) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Returns the wait for the memory budget, if there is one.
    pub(super) fn budget_wait(&self) -> Option<&Arc<BudgetWait>> {
        self.budget_wait.as_ref()
    }

    /// Returns the number of attempts so far.
    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Counts an attempt that begins.
    pub(super) fn attempt(&mut self) {
        self.attempts += 1;
        tracing::debug!(parent: &self.span, attempt = self.attempts, "sending request");
    }

    /// Records the head of a response.
    pub(super) fn responded(&mut self, status: StatusCode, request_id: Option<&str>) {
        self.status = Some(status);
        self.request_id = request_id.map(str::to_owned);
        tracing::debug!(
            parent: &self.span,
            attempt = self.attempts,
            status = status.as_u16(),
            request_id,
            "received response head"
        );
    }

    /// Counts bytes of the response that the caller receives.
    pub(super) fn received(&mut self, bytes: usize) {
        self.response_bytes += bytes as u64;
    }

    /// Records that the function succeeded, or that its event was queued.
    pub(super) fn succeeded(&mut self) {
        self.outcome = Outcome::Succeeded;
    }

    /// Records that the function failed.
    pub(super) fn function_failed(&mut self) {
        self.outcome = Outcome::FunctionError;
    }

    /// Records that the call failed, after its last attempt.
    pub(super) fn failed(&mut self, error: &Error) {
        self.outcome = Outcome::of(error);
        let error: &(dyn StdError + 'static) = error;
        tracing::debug!(parent: &self.span, attempt = self.attempts, error, "call failed");
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.span.record("attempts", self.attempts);
        if let Some(status) = self.status {
            self.span.record("status", status.as_u16());
        }
        if let Some(request_id) = &self.request_id {
            self.span.record("request_id", request_id);
        }
        self.span.record("response_bytes", self.response_bytes);
        self.span.record("outcome", field::debug(self.outcome));
        if let Some(Hook(hook)) = &self.hook {
            hook(&CallReport {
                function: &self.function,
                qualifier: self.qualifier.as_deref(),
                outcome: self.outcome,
                status: self.status,
                request_id: self.request_id.as_deref(),
                attempts: self.attempts,
                request_bytes: self.request_bytes,
                response_bytes: self.response_bytes,
                elapsed: self.begin.elapsed(),
                budget_wait: self.budget_wait().map(|wait| wait.waited()).unwrap_or_default(),
            });
        }
    }
}
