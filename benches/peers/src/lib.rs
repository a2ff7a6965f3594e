//! What the benchmarks against the SDKs of AWS share.

pub mod allocator;
pub mod api;
pub mod caller;
pub mod child;
pub mod server;
