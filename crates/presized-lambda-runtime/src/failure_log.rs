//! The log lines of failed invocations.

use super::{ErrorReport, error_report};

/// Logs failures, with or without their messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct FailureLog {
    pub(super) has_messages: bool,
}

impl FailureLog {
    /// Logs a failure in the current span.
    pub(super) fn record(self, report: &ErrorReport, failed: &'static str) {
        let error_message =
            self.has_messages.then(|| error_report::cut(&report.error_message, MESSAGE_MAX));
        tracing::error!(error_type = report.error_type, error_message, "{failed}");
    }
}

/// The maximum length of a message in the log in bytes. The whole message is in the response.
const MESSAGE_MAX: usize = 16 << 10;
