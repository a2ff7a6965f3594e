//! Page faults, as the kernel counts them.

use nix::sys::resource::{UsageWho, getrusage};

/// Page faults of the calling thread that needed no I/O, since it began.
pub fn minor_faults() -> u64 {
    faults_of(UsageWho::RUSAGE_THREAD)
}

/// The same of all threads of this process.
pub fn process_minor_faults() -> u64 {
    faults_of(UsageWho::RUSAGE_SELF)
}

fn faults_of(who: UsageWho) -> u64 {
    let usage = getrusage(who).expect("getrusage fails only for a bad argument");
    usage.minor_page_faults().cast_unsigned()
}
