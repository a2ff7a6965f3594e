//! The shared parts of presized, with the locks of loom, which runs a test once for every
//! interleaving of its threads. A deadlock, a lost wake-up or a failed check in any of them
//! fails the test.
#![cfg(test)]

#[path = "../../../src/bank.rs"]
mod bank;
#[path = "../../../src/budget.rs"]
mod budget;
#[path = "../../../src/pool.rs"]
mod pool;

mod sync {
    pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};
    pub(crate) use std::sync::PoisonError;
}

mod budget_models;
mod pool_models;
