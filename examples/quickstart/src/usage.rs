//! Figures of this process from the kernel, `None` where the kernel does not report them.

use std::time::Duration;

/// The memory of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Resident bytes now.
    pub(crate) resident: u64,
    /// The most resident bytes since the start or the last [`reset_peak`].
    pub(crate) peak: u64,
    /// Bytes of address space now, used or not.
    pub(crate) reserved: u64,
    /// The most bytes of address space since the start.
    pub(crate) peak_reserved: u64,
}

/// Returns the memory of this process.
#[cfg(target_os = "linux")]
pub(crate) fn memory() -> Option<Memory> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let bytes = |name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
    };
    Some(Memory {
        resident: bytes("VmRSS:")?,
        peak: bytes("VmHWM:")?,
        reserved: bytes("VmSize:")?,
        peak_reserved: bytes("VmPeak:")?,
    })
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn memory() -> Option<Memory> {
    None
}

/// Resets the peak to the memory that is resident now.
///
/// If the kernel does not allow it, the peak remains the one since the start of the process.
pub(crate) fn reset_peak() {
    #[cfg(target_os = "linux")]
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Returns the CPU time of all threads of this process.
#[cfg(unix)]
pub(crate) fn cpu() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};
    Some(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).ok()?.into())
}

#[cfg(not(unix))]
pub(crate) fn cpu() -> Option<Duration> {
    None
}

/// Returns the number of page faults of this process that needed no I/O.
#[cfg(unix)]
pub(crate) fn page_faults() -> Option<u64> {
    use nix::sys::resource::{UsageWho, getrusage};
    getrusage(UsageWho::RUSAGE_SELF).ok()?.minor_page_faults().try_into().ok()
}

#[cfg(not(unix))]
pub(crate) fn page_faults() -> Option<u64> {
    None
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Server,
    Client,
}

/// Keeps the calling thread on the first CPU for the server, on the last for the client.
///
/// Without this, the two sides share a CPU in one process and not in the next, which changes the
/// time of a small body by a factor of two.
#[cfg(target_os = "linux")]
pub(crate) fn pin(side: Side) {
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;
    let this = Pid::from_raw(0);
    let Ok(allowed) = sched_getaffinity(this) else { return };
    let mut cpus = (0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu) == Ok(true));
    let cpu = if side == Side::Server { cpus.next() } else { cpus.next_back() };
    let mut only = CpuSet::new();
    if cpu.is_some_and(|cpu| only.set(cpu).is_ok()) {
        // If it fails, the figures only vary more.
        let _ = sched_setaffinity(this, &only);
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn pin(_side: Side) {}
