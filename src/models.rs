//! Models of the shared state. Loom runs each test once for every interleaving of its threads.
//!
//! A deadlock, a lost wake-up or a failed assertion in any interleaving fails the test.
//!
//! ```sh
//! RUSTFLAGS="--cfg loom -C debug-assertions" cargo test --release -p presized --lib models
//! ```

mod budget;
mod pool;
