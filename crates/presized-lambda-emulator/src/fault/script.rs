//! The faults of a function that have not happened yet.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::{Fault, FaultKind, FaultyApi};

/// A script of faults.
#[derive(Default)]
pub(crate) struct FaultScript(Mutex<VecDeque<Fault>>);

impl FaultScript {
    pub(crate) fn push(&self, fault: Fault) {
        if fault.times > 0 {
            self.lock().push_back(fault);
        }
    }

    /// Takes the next fault of an API.
    pub(crate) fn take(&self, api: FaultyApi) -> Option<FaultKind> {
        let mut faults = self.lock();
        let position = faults.iter().position(|fault| fault.api == api)?;
        let fault = faults.get_mut(position)?;
        let kind = fault.kind;
        fault.times -= 1;
        if fault.times == 0 {
            faults.remove(position);
        }
        Some(kind)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Fault>> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
