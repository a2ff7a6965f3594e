//! The tests of the core that need neither a counting allocator nor another program.
//!
//! They are one binary, because every binary of tests links hyper and tokio again.

mod forms;
#[cfg(feature = "json")]
mod json;
mod length;
mod limit;
mod reuse;
mod transport;
