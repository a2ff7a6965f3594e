//! The parts that the benchmarks and tests with the SDKs of AWS share.

pub mod api;
pub mod caller;
pub mod calls;
pub mod server;
