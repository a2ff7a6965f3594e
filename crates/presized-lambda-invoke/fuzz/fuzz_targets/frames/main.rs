//! Decodes event stream frames that are split anywhere, and compares with AWS's reader of whole
//! messages, which gets the same bytes in one piece.

#![no_main]

// The client exports its internals only to a fuzzer, and `cargo fuzz` sets this.
#[cfg(fuzzing)]
mod target;
