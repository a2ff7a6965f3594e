//! Page faults as counted by the kernel.

use nix::sys::resource::{UsageWho, getrusage};

/// Returns the minor page faults of the calling thread since its start.
pub fn minor_faults() -> u64 {
    faults_of(UsageWho::RUSAGE_THREAD)
}

/// Returns the minor page faults of all threads of this process.
pub fn process_minor_faults() -> u64 {
    faults_of(UsageWho::RUSAGE_SELF)
}

fn faults_of(who: UsageWho) -> u64 {
    let usage = getrusage(who).expect("getrusage fails only for a bad argument");
    // A `c_long`, which has 32 bits on some systems.
    usage.minor_page_faults() as u64
}
