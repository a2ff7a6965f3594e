//! The locks of the shared state. The models replace them with loom's.

// Only for the unit tests: `--cfg loom` is global, and a program that models itself must get the
// real locks here.
#[cfg(all(test, loom))]
pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};
#[cfg(not(all(test, loom)))]
pub(crate) use std::sync::{Arc, Mutex, MutexGuard};

pub(crate) use std::sync::PoisonError;
