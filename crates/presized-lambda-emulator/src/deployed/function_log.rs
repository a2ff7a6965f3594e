//! The log of a function, of which each invocation gets its part.

use std::collections::HashMap;
use std::mem;
use std::time::Duration;

use super::queued_invocation::{QueuedInvocation, RequestId};
use crate::log_tail::{LogTail, end_lines, start_line};

/// The log of a function.
#[derive(Default)]
pub(super) struct FunctionLog {
    /// The output that was written while no invocation was running. The next log shows it.
    idle: LogTail,
    /// The running invocations, each with its log if its caller has asked for it.
    running: HashMap<RequestId, Option<LogTail>>,
}

impl FunctionLog {
    pub(super) fn start(&mut self, invocation: &QueuedInvocation) {
        let log = invocation.wants_log.then(|| {
            let mut log = mem::take(&mut self.idle);
            log.push(start_line(&invocation.id, &invocation.version).as_bytes());
            log
        });
        self.running.insert(RequestId::clone(&invocation.id), log);
    }

    /// Adds output of the function to the logs of all running invocations.
    pub(super) fn write(&mut self, output: &[u8]) {
        if self.running.is_empty() {
            self.idle.push(output);
        }
        for log in self.running.values_mut().flatten() {
            log.push(output);
        }
    }

    pub(super) fn is_wanted(&self, id: &RequestId) -> bool {
        matches!(self.running.get(id), Some(Some(_)))
    }

    /// Returns the log of a running invocation that ends.
    pub(super) fn end(
        &mut self,
        id: &RequestId,
        took: Duration,
        memory_mb: u32,
    ) -> Option<LogTail> {
        let mut log = self.running.remove(id)??;
        log.push(end_lines(id, took, memory_mb).as_bytes());
        Some(log)
    }

    /// Returns the log of an invocation that ends before it was started.
    pub(super) fn end_queued(&mut self, invocation: &QueuedInvocation) -> Option<LogTail> {
        invocation.wants_log.then(|| mem::take(&mut self.idle))
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::super::tests::invocation;
    use super::*;

    fn text(log: Option<LogTail>) -> Option<String> {
        String::from_utf8(STANDARD.decode(log?.encode()).ok()?).ok()
    }

    #[test]
    fn output_between_invocations_is_in_the_next_log_that_is_wanted() {
        let mut log = FunctionLog::default();
        log.write(b"init\n");
        let unwanted = QueuedInvocation { wants_log: false, ..invocation("a") };
        log.start(&unwanted);
        assert!(!log.is_wanted(&unwanted.id));
        log.write(b"lost\n");
        assert_eq!(text(log.end(&unwanted.id, Duration::ZERO, 128)), None);
        let wanted = invocation("b");
        log.start(&wanted);
        assert!(log.is_wanted(&wanted.id));
        log.write(b"kept\n");
        let log = text(log.end(&wanted.id, Duration::ZERO, 128)).expect("no log");
        let start = "init\nSTART RequestId: b Version: $LATEST\nkept\nEND RequestId: b\n";
        assert!(log.starts_with(start), "{log}");
    }

    #[test]
    fn invocation_that_is_never_started_gets_the_output_before_it() {
        let mut log = FunctionLog::default();
        log.write(b"panicked at start\n");
        assert_eq!(text(log.end_queued(&invocation("a"))).as_deref(), Some("panicked at start\n"));
        assert_eq!(text(log.end_queued(&invocation("b"))).as_deref(), Some(""));
    }

    #[test]
    fn concurrent_invocations_get_the_same_output() {
        let mut log = FunctionLog::default();
        let invocations = [invocation("a"), invocation("b")];
        invocations.iter().for_each(|invocation| log.start(invocation));
        log.write(b"both\n");
        for invocation in &invocations {
            let log = text(log.end(&invocation.id, Duration::ZERO, 128)).expect("no log");
            assert!(log.contains("both\n"), "{log}");
        }
    }
}
