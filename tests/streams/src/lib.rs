//! Only tests, in `tests/`: streams of other crates that the core reads.
