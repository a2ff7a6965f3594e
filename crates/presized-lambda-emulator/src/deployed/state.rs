//! The state machine of a runtime: which requests it may send in which state.
//!
//! The order of states is that of AWS's own emulator, which has both modes
//! (<https://github.com/aws/aws-lambda-runtime-interface-emulator>).

use crate::runtime_api::Refusal;
use crate::runtime_mode::RuntimeMode;

/// The status of the invocation that a response names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InvocationStatus {
    Unknown,
    /// It waits for its response.
    Running,
    /// Its response is being read.
    Responding,
    Responded,
    TimedOut,
    /// It runs with another invocation id, so that the response is from an earlier attempt.
    OtherAttempt,
}

/// Checks whether a runtime that has `running` invocations may poll for an event.
pub(super) fn may_poll(mode: RuntimeMode, running: usize) -> Result<(), Refusal> {
    match mode {
        RuntimeMode::Classic if running > 0 => {
            Err(Refusal::InvalidStateTransition { from: "Running", to: "Ready" })
        }
        RuntimeMode::Classic | RuntimeMode::Concurrent => Ok(()),
    }
}

/// Checks whether a runtime may respond to an invocation of this status.
pub(super) fn may_respond(mode: RuntimeMode, status: InvocationStatus) -> Result<(), Refusal> {
    use InvocationStatus::{OtherAttempt, Responded, Responding, Running, TimedOut, Unknown};
    match (status, mode) {
        (Running, _) => Ok(()),
        (Unknown, _) | (Responding | Responded, RuntimeMode::Concurrent) => {
            Err(Refusal::InvalidRequestId)
        }
        (Responding, RuntimeMode::Classic) => Err(Refusal::InvalidStateTransition {
            from: "InvocationResponse",
            to: "InvocationResponse",
        }),
        (Responded, RuntimeMode::Classic) => {
            Err(Refusal::InvalidStateTransition { from: "ResponseSent", to: "InvocationResponse" })
        }
        (TimedOut | OtherAttempt, _) => Err(Refusal::InvokeTimeout),
    }
}

/// Checks whether a runtime may report that it failed to start.
pub(super) fn may_fail_init(initialised: bool) -> Result<(), Refusal> {
    before_first_poll(initialised, "InitError")
}

/// Checks whether a runtime may ask to be restored from a snapshot.
pub(super) fn may_restore(initialised: bool) -> Result<(), Refusal> {
    before_first_poll(initialised, "RestoreReady")
}

fn before_first_poll(initialised: bool, to: &'static str) -> Result<(), Refusal> {
    if initialised {
        return Err(Refusal::InvalidStateTransition { from: "Ready", to });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_running_invocation_takes_a_response() {
        use InvocationStatus::*;
        use RuntimeMode::*;
        for (mode, invocation, status) in [
            (Classic, Running, None),
            (Classic, Unknown, Some(400)),
            (Classic, Responding, Some(403)),
            (Classic, Responded, Some(403)),
            (Classic, TimedOut, Some(410)),
            (Classic, OtherAttempt, Some(410)),
            (Concurrent, Running, None),
            (Concurrent, Unknown, Some(400)),
            (Concurrent, Responding, Some(400)),
            (Concurrent, Responded, Some(400)),
            (Concurrent, TimedOut, Some(410)),
            (Concurrent, OtherAttempt, Some(410)),
        ] {
            let found = may_respond(mode, invocation).err();
            let found = found.map(|refusal| refusal.status().as_u16());
            assert_eq!(found, status, "{mode:?} {invocation:?}");
        }
    }

    #[test]
    fn only_a_concurrent_runtime_polls_while_it_has_invocations() {
        for (mode, running, allowed) in [
            (RuntimeMode::Classic, 0, true),
            (RuntimeMode::Classic, 1, false),
            (RuntimeMode::Concurrent, 0, true),
            (RuntimeMode::Concurrent, 100, true),
        ] {
            assert_eq!(may_poll(mode, running).is_ok(), allowed, "{mode:?} {running}");
        }
    }

    #[test]
    fn init_error_and_restore_are_refused_after_the_first_poll() {
        for (initialised, allowed) in [(false, true), (true, false)] {
            assert_eq!(may_fail_init(initialised).is_ok(), allowed);
            assert_eq!(may_restore(initialised).is_ok(), allowed);
        }
    }
}
