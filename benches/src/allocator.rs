//! The allocator states in which memory is measured.

use std::env;

/// A state of glibc's allocator, which decides what happens to freed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocator {
    /// The name in tables and records.
    pub name: &'static str,
    /// The environment variables of a process in this state.
    pub variables: &'static [(&'static str, &'static str)],
}

/// glibc without settings. Its thresholds rise with the size of the blocks that are freed.
pub const DEFAULT: Allocator = Allocator { name: "default", variables: &[] };

/// Freed memory stays mapped, up to the largest threshold that glibc accepts. This state favours
/// readers that allocate much.
pub const KEPT: Allocator = Allocator {
    name: "kept",
    variables: &[("MALLOC_MMAP_THRESHOLD_", "30000000"), ("MALLOC_TRIM_THRESHOLD_", "2000000000")],
};

/// Blocks of 128 KiB and more are mapped and unmapped each time, as in musl and in every process
/// before the thresholds of glibc have risen.
pub const RETURNED: Allocator = Allocator {
    name: "returned",
    variables: &[("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TRIM_THRESHOLD_", "131072")],
};

/// All states, in the order in which they are measured.
pub const ALL: [Allocator; 3] = [DEFAULT, KEPT, RETURNED];

/// Returns the state in which this process was started.
pub fn current() -> Allocator {
    let is_set = |&(name, value): &(&str, &str)| env::var(name).is_ok_and(|found| found == value);
    let found = [KEPT, RETURNED].into_iter().find(|state| state.variables.iter().all(is_set));
    found.unwrap_or(DEFAULT)
}
