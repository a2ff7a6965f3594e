//! One execution environment of a function: its runtime slot and its log.

use tokio::time::{Duration, Instant};

use super::function_log::FunctionLog;
use super::runtime_source::ConnectionId;
use super::slot::RuntimeSlot;
use crate::Function;
use crate::environment::RuntimeHandle;

/// An execution environment.
pub(super) struct Environment {
    pub(super) slot: RuntimeSlot,
    pub(super) log: FunctionLog,
    runtime: EnvironmentRuntime,
    /// `true` once the environment gets no more invocations.
    retired: bool,
    frozen_until: Option<Instant>,
}

/// The runtime of an environment.
pub(super) enum EnvironmentRuntime {
    /// The emulator runs it.
    Own(RuntimeHandle),
    /// It connects to the address of the function. In classic mode, each connection that polls has
    /// an environment. `None` if the connection is closed, or if all connections share the
    /// environment.
    External(Option<ConnectionId>),
}

impl Environment {
    pub(super) fn new(function: &Function, runtime: EnvironmentRuntime, now: Instant) -> Self {
        let slot = RuntimeSlot::new(function.mode(), now);
        Self { slot, log: FunctionLog::default(), runtime, retired: false, frozen_until: None }
    }

    /// Returns the handle of the runtime if the emulator runs it.
    pub(super) fn handle(&self) -> Option<&RuntimeHandle> {
        match &self.runtime {
            EnvironmentRuntime::Own(handle) => Some(handle),
            EnvironmentRuntime::External(_) => None,
        }
    }

    pub(super) fn is_external(&self) -> bool {
        self.handle().is_none()
    }

    pub(super) fn has_connection(&self, connection: ConnectionId) -> bool {
        matches!(self.runtime, EnvironmentRuntime::External(Some(own)) if own == connection)
    }

    /// Returns whether another connection can take the environment over.
    pub(super) fn is_abandoned(&self) -> bool {
        matches!(self.runtime, EnvironmentRuntime::External(None)) && !self.slot.has_runtime()
    }

    pub(super) fn set_connection(&mut self, connection: Option<ConnectionId>) {
        self.runtime = EnvironmentRuntime::External(connection);
    }

    pub(super) fn is_retired(&self) -> bool {
        self.retired
    }

    pub(super) fn takes_offer(&self, now: Instant) -> bool {
        !self.retired && self.frozen_until(now).is_none() && self.slot.takes_offer()
    }

    /// Returns until when the environment is frozen, if it is.
    pub(super) fn frozen_until(&self, now: Instant) -> Option<Instant> {
        self.frozen_until.filter(|until| *until > now)
    }

    /// Freezes the environment, if the emulator runs it.
    pub(super) fn freeze(&mut self, time: Duration, now: Instant) {
        if let Some(handle) = self.handle() {
            handle.freeze(time);
            self.frozen_until = now.checked_add(time);
        }
    }

    /// Returns whether the environment is warm and has nothing to do.
    pub(super) fn is_idle(&self) -> bool {
        !self.retired && self.slot.is_initialised() && self.slot.busy() == 0
    }

    /// Returns for how many invocations the runtime will poll soon.
    pub(super) fn expected(&self, capacity: usize, now: Instant) -> usize {
        match self.expected_until() {
            _ if self.frozen_until(now).is_some() => 0,
            None if self.retired || self.is_external() => 0,
            None => capacity,
            Some(until) if until <= now => 0,
            Some(_) => capacity.saturating_sub(self.slot.busy() + self.slot.open_polls()),
        }
    }

    /// Returns until when a warm runtime is expected to poll again.
    pub(super) fn expected_until(&self) -> Option<Instant> {
        let is_expected = !self.retired && !self.is_external() && self.slot.is_initialised();
        is_expected.then(|| self.slot.last_seen() + POLLS_AGAIN)
    }

    /// Ends the environment after its last invocation.
    pub(super) fn retire(&mut self) {
        self.retired = true;
        self.end_if_done();
    }

    /// Tells the runtime to end at once.
    pub(super) fn shut_down(&mut self) {
        if let Some(handle) = self.handle() {
            handle.shut_down();
            self.retired = true;
        }
    }

    /// Kills the runtime.
    pub(super) fn kill(&mut self) {
        if let Some(handle) = self.handle() {
            handle.kill();
            self.retired = true;
        }
    }

    /// Ends a retired environment that has no invocation.
    pub(super) fn end_if_done(&self) {
        if let Some(handle) = self.handle().filter(|_| self.retired && self.slot.busy() == 0) {
            handle.shut_down();
        }
    }
}

/// The time from a response of a runtime to its next poll, after which an invocation starts another
/// environment. It is much longer than a runtime takes that has nothing else to do.
const POLLS_AGAIN: Duration = Duration::from_secs(1);
