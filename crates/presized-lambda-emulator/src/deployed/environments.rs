//! The execution environments of a function.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tokio::time::{Duration, Instant};

use super::environment::{Environment, EnvironmentRuntime};
use super::queued_invocation::RequestId;
use super::runtime_source::{ConnectionId, RuntimeSource};
use crate::Function;
use crate::environment::RuntimeHandle;
use crate::runtime_mode::RuntimeMode;

/// The number of an environment of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EnvironmentId(u64);

/// The environments of a function.
pub(super) struct Environments {
    function: Function,
    by_id: BTreeMap<EnvironmentId, Environment>,
    next_id: u64,
}

impl Environments {
    pub(super) fn new(function: Function) -> Self {
        Self { function, by_id: BTreeMap::new(), next_id: 0 }
    }

    pub(super) fn get(&self, id: EnvironmentId) -> Option<&Environment> {
        self.by_id.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: EnvironmentId) -> Option<&mut Environment> {
        self.by_id.get_mut(&id)
    }

    /// Adds an environment that the emulator runs.
    pub(super) fn start(&mut self, handle: RuntimeHandle, now: Instant) -> EnvironmentId {
        self.add(EnvironmentRuntime::Own(handle), now)
    }

    pub(super) fn remove(&mut self, id: EnvironmentId) -> Option<Environment> {
        self.by_id.remove(&id)
    }

    pub(super) fn connection_closed(&mut self, connection: ConnectionId) {
        if let Some(id) = self.of_connection(connection) {
            self.by_id.entry(id).and_modify(|environment| environment.set_connection(None));
        }
    }

    /// Returns the environment whose runtime polls. A connection of a new external runtime gets a
    /// new environment. `None` if the environment has ended.
    pub(super) fn polled_by(
        &mut self,
        source: RuntimeSource,
        now: Instant,
    ) -> Option<EnvironmentId> {
        let connection = match source {
            RuntimeSource::Environment(id) => return self.by_id.contains_key(&id).then_some(id),
            RuntimeSource::Connection(connection) => connection,
        };
        if self.function.mode() == RuntimeMode::Concurrent {
            // All polls are polls of one runtime, which has many of them.
            let external = self.find(Environment::is_external);
            return Some(external.unwrap_or_else(|| self.add(EXTERNAL, now)));
        }
        if let Some(own) = self.of_connection(connection) {
            return Some(own);
        }
        // A runtime may open a connection for each request.
        let id = self.find(Environment::is_abandoned).unwrap_or_else(|| self.add(EXTERNAL, now));
        self.get_mut(id)?.set_connection(Some(connection));
        Some(id)
    }

    /// Returns the environment that has, or else had, the invocation of a response.
    pub(super) fn of_response(&self, source: RuntimeSource, id: &str) -> Option<EnvironmentId> {
        match source {
            RuntimeSource::Environment(environment) => Some(environment),
            RuntimeSource::Connection(connection) => {
                let own = self.of_connection(connection);
                own.filter(|own| self.get(*own).is_some_and(|own| own.slot.knows(id)))
                    .or_else(|| self.find(|other| other.is_external() && other.slot.has(id)))
                    .or_else(|| self.find(|other| other.is_external() && other.slot.knows(id)))
            }
        }
    }

    /// Returns the environment for the next invocation: the one that was used last, so that the
    /// others become idle.
    pub(super) fn for_next_invocation(&self, now: Instant) -> Option<EnvironmentId> {
        let free = self.by_id.iter().filter(|(_, environment)| environment.takes_offer(now));
        let (id, _) =
            free.max_by_key(|(id, environment)| (environment.slot.last_used(), Reverse(**id)))?;
        Some(*id)
    }

    /// Returns how many invocations are running or on their way to a runtime.
    pub(super) fn busy(&self) -> usize {
        self.by_id.values().map(|environment| environment.slot.busy()).sum()
    }

    /// Returns whether a runtime polls or is at work.
    pub(super) fn has_runtime(&self) -> bool {
        self.by_id.values().any(|environment| environment.slot.has_runtime())
    }

    /// Returns for how many invocations the runtimes will poll soon.
    pub(super) fn expected(&self, now: Instant) -> usize {
        let capacity = self.capacity();
        self.by_id.values().map(|environment| environment.expected(capacity, now)).sum()
    }

    /// Returns when the first runtime that is expected to poll no longer is, or the first frozen one
    /// goes on.
    pub(super) fn next_change(&self, now: Instant) -> Option<Instant> {
        let expected = self.by_id.values().filter_map(Environment::expected_until);
        let frozen = self.by_id.values().filter_map(|environment| environment.frozen_until(now));
        expected.filter(|until| *until > now).chain(frozen).min()
    }

    /// Returns when a runtime last polled, or ended an invocation, or was started.
    pub(super) fn last_seen(&self) -> Option<Instant> {
        self.by_id.values().map(|environment| environment.slot.last_seen()).max()
    }

    /// Returns how many environments the emulator runs that get invocations.
    pub(super) fn running(&self) -> usize {
        let own = self.by_id.values().filter(|environment| !environment.is_external());
        own.filter(|environment| !environment.is_retired()).count()
    }

    /// Returns how many invocations an environment handles at a time.
    pub(super) fn capacity(&self) -> usize {
        self.function.concurrency.unwrap_or(1)
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.by_id.values().filter_map(|environment| environment.slot.next_deadline()).min()
    }

    /// Returns a running invocation whose deadline has passed.
    pub(super) fn overdue(&self, now: Instant) -> Option<(EnvironmentId, RequestId)> {
        self.by_id.iter().find_map(|(id, environment)| Some((*id, environment.slot.overdue(now)?)))
    }

    /// Restores environments from their snapshot, up to `count`.
    pub(super) fn restore(&mut self, count: usize) {
        let waiting = self.by_id.values_mut().filter(|environment| !environment.is_retired());
        let waiting = waiting.filter(|environment| environment.slot.waits_for_restore());
        waiting.take(count).for_each(|environment| environment.slot.restore());
    }

    /// Returns the oldest environment whose runtime has not polled yet.
    pub(super) fn starting(&mut self) -> Option<&mut Environment> {
        self.by_id.values_mut().find(|environment| {
            !environment.is_external()
                && !environment.is_retired()
                && !environment.slot.is_initialised()
        })
    }

    /// Kills the environments whose runtime has not polled for `patience` after its start.
    pub(super) fn kill_stuck(&mut self, patience: Duration, now: Instant) {
        for environment in self.by_id.values_mut() {
            let is_late = environment.slot.last_seen().checked_add(patience) <= Some(now);
            if !environment.slot.is_initialised() && is_late {
                environment.kill();
            }
        }
    }

    /// Ends the environments that the emulator runs, each after its last invocation.
    pub(super) fn retire_all(&mut self) {
        let own = self.by_id.values_mut().filter(|environment| !environment.is_external());
        own.for_each(Environment::retire);
    }

    /// Ends the environment that was used least recently, if too many are idle.
    pub(super) fn retire_idle(&mut self) {
        let idle = self
            .by_id
            .values_mut()
            .filter(|environment| environment.is_idle() && !environment.is_external());
        let idle: Vec<_> = idle.collect();
        if idle.len() > IDLE_MAX {
            let oldest = idle.into_iter().min_by_key(|environment| environment.slot.last_used());
            oldest.into_iter().for_each(Environment::retire);
        }
    }

    pub(super) fn clear(&mut self) {
        self.by_id.clear();
    }

    fn add(&mut self, runtime: EnvironmentRuntime, now: Instant) -> EnvironmentId {
        let id = EnvironmentId(self.next_id);
        self.next_id += 1;
        self.by_id.insert(id, Environment::new(&self.function, runtime, now));
        id
    }

    fn of_connection(&self, connection: ConnectionId) -> Option<EnvironmentId> {
        self.find(|environment| environment.has_connection(connection))
    }

    fn find(&self, is_wanted: impl Fn(&Environment) -> bool) -> Option<EnvironmentId> {
        let mut found = self.by_id.iter().filter(|(_, environment)| is_wanted(environment));
        found.next().map(|(id, _)| *id)
    }
}

const EXTERNAL: EnvironmentRuntime = EnvironmentRuntime::External(None);

/// The number of idle environments that are kept. A burst of calls must not leave a thousand
/// processes behind.
const IDLE_MAX: usize = 32;
