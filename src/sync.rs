//! The locks. The models in `tests/models` put loom's in their place.

pub(crate) use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
