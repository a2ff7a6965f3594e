//! Page faults, as the kernel counts them.

use nix::sys::resource::{UsageWho, getrusage};

/// Page faults of the calling thread that needed no I/O, since it began.
pub fn minor_faults() -> u64 {
    let usage =
        getrusage(UsageWho::RUSAGE_THREAD).expect("getrusage fails only for a bad argument");
    usage.minor_page_faults().cast_unsigned()
}
