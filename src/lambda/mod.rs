//! Clients of AWS Lambda, on the reader of this crate.

pub mod invoke;
