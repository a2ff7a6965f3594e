//! What the tests, benchmarks and the quick start of presized share.

pub mod ledger;
pub mod mock;
pub mod usage;
