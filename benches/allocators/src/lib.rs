//! The client of the benchmark `growth`, which is one program for each allocator.

pub mod case;
pub mod client;

pub use presized_support::client::Error;
