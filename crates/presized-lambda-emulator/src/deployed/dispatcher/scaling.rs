//! The start and the end of environments.

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::super::environment::Environment;
use super::super::environments::EnvironmentId;
use super::super::reply::InvocationEnd;
use super::super::runtime_source::RuntimeSource;
use super::Dispatcher;
use crate::environment::RuntimeHandle;
use crate::failure::Failure;
use crate::runtime_api::Refusal;

impl Dispatcher {
    /// Sets whether the emulator starts environments.
    pub(in super::super) fn set_scales(&mut self, scales: bool) {
        self.scales = scales;
    }

    /// Returns whether an invocation waits that no runtime will take soon, and the emulator can
    /// start another environment.
    pub(in super::super) fn needs_environment(&self, now: Instant) -> bool {
        if !self.scales || self.closed || self.queue.is_empty() {
            return false;
        }
        let waiting = self.queue.len().min(self.limit().saturating_sub(self.environments.busy()));
        waiting > self.environments.expected(now)
            && self.environments.running() < self.limit().div_ceil(self.environments.capacity())
    }

    /// Takes a request for a restoration. The receiver gets it when an invocation needs it. An
    /// external runtime gets it at once, because the emulator has no snapshot of it.
    pub(in super::super) fn restore(
        &mut self,
        source: RuntimeSource,
        now: Instant,
    ) -> Result<Option<oneshot::Receiver<()>>, Refusal> {
        let id = self.environments.polled_by(source, now).ok_or(Refusal::Internal)?;
        let environment = self.environments.get_mut(id).ok_or(Refusal::Internal)?;
        environment.slot.may_restore()?;
        if !self.options.snap_start || environment.is_external() {
            return Ok(None);
        }
        let restored = environment.slot.wait_for_restore();
        self.dispatch();
        Ok(Some(restored))
    }

    pub(in super::super) fn init_failed(
        &mut self,
        source: RuntimeSource,
        failure: Failure,
        now: Instant,
    ) -> Result<(), Refusal> {
        let id = self.environments.polled_by(source, now).ok_or(Refusal::Internal)?;
        let environment = self.environments.get_mut(id).ok_or(Refusal::Internal)?;
        environment.slot.init_failed()?;
        if environment.is_external() {
            self.init_failure = Some(failure.clone());
            self.fail_queued(id, usize::MAX, |_| failure.clone());
        } else {
            environment.retire();
            self.fail_queued(id, self.environments.capacity(), |_| failure.clone());
        }
        Ok(())
    }

    /// Returns the runtime of an environment if the emulator runs it.
    pub(in super::super) fn runtime(&self, environment: EnvironmentId) -> Option<&RuntimeHandle> {
        self.environments.get(environment)?.handle()
    }

    pub(in super::super) fn environment_started(
        &mut self,
        handle: RuntimeHandle,
        now: Instant,
    ) -> EnvironmentId {
        self.stats.environments += 1;
        self.environments.start(handle, now)
    }

    /// Fails the running invocations of an environment. The queued ones wait for another one, except
    /// for those that the environment was started for, if it has never polled.
    pub(in super::super) fn environment_ended(
        &mut self,
        id: EnvironmentId,
        status: &str,
        now: Instant,
    ) {
        let Some(environment) = self.environments.get_mut(id) else { return };
        let fails_queued = !environment.slot.is_initialised() && !environment.is_retired();
        // Its connections may still look open.
        environment.kill();
        for invocation in environment.slot.running() {
            let failure = Failure::exited(&invocation, status);
            self.end(id, &invocation, InvocationEnd::Failed(failure), now);
        }
        if fails_queued {
            let capacity = self.environments.capacity();
            self.fail_queued(id, capacity, |id| Failure::exited(id, status));
        }
        self.environments.remove(id);
    }

    /// Tells the runtime of an environment to end at once.
    pub(in super::super) fn shut_down(&mut self, id: EnvironmentId) {
        self.environments.get_mut(id).into_iter().for_each(Environment::shut_down);
    }

    /// Ends the environments that the emulator runs, each after its last invocation.
    pub(in super::super) fn make_cold(&mut self) {
        self.environments.retire_all();
    }

    /// Fails the oldest `count` invocations, which `environment` was started for.
    fn fail_queued(
        &mut self,
        environment: EnvironmentId,
        count: usize,
        failure: impl Fn(&str) -> Failure,
    ) {
        for _ in 0..count {
            let Some(invocation) = self.queue.pop() else { return };
            let failure = failure(&invocation.id);
            let environment = self.environments.get_mut(environment);
            let log = environment.and_then(|found| found.log.end_queued(&invocation));
            self.end_queued(invocation, InvocationEnd::Failed(failure), log);
        }
    }
}
