//! Servers, bodies and measurements that the tests and benchmarks share.

pub mod background;
pub mod bars;
pub mod cargo_lambda;
pub mod chain;
pub mod chunked;
pub mod client;
#[cfg(feature = "coded")]
pub mod coded;
pub mod drive;
pub mod eventstream;
pub mod frames;
pub mod http_events;
pub mod log;
#[cfg(target_os = "linux")]
pub mod meter;
pub mod mock;
pub mod pattern;
pub mod process;
pub mod relay;
#[cfg(unix)]
pub mod rie;
pub mod scripted;
pub mod server;
pub mod sources;
pub mod table;
#[cfg(target_os = "linux")]
pub mod usage;

pub use presized_ledger as ledger;
