//! What the kernel says of this thread and of this process.

use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// CPU time and page faults of the calling thread since it began.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadUsage {
    /// User and system time.
    pub cpu: Duration,
    /// Page faults that needed no I/O.
    pub minor_faults: u64,
}

impl ThreadUsage {
    /// Reads the counters of the calling thread.
    pub fn now() -> Self {
        let usage = usage(UsageWho::RUSAGE_THREAD);
        Self {
            cpu: duration(usage.user_time()) + duration(usage.system_time()),
            minor_faults: usage.minor_page_faults().cast_unsigned(),
        }
    }

    /// What was spent since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self { cpu: self.cpu - earlier.cpu, minor_faults: self.minor_faults - earlier.minor_faults }
    }
}

/// Most bytes of memory this process has had resident at one time.
pub fn peak_resident() -> u64 {
    // Linux counts in KiB.
    usage(UsageWho::RUSAGE_SELF).max_rss().cast_unsigned() * 1024
}

fn usage(who: UsageWho) -> Usage {
    getrusage(who).expect("getrusage fails only for a bad argument")
}

fn duration(time: TimeVal) -> Duration {
    Duration::new(time.tv_sec().cast_unsigned(), time.tv_usec().cast_unsigned() as u32 * 1000)
}
