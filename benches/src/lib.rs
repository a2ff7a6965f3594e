//! The parts that the benchmarks share: allocator states, client processes, records, tables and
//! charts.

pub mod allocator;
pub mod chart;
pub mod child;
pub mod markdown;
pub mod record;
pub mod turns;
