//! Exact figures of the kernel, and the conditions under which they can be compared.

use std::fs;
use std::time::Duration;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;

/// CPU time of the calling thread since it began.
///
/// In nanoseconds. What `getrusage` tells of a thread that is running is as old as the
/// last tick of the scheduler, which is four milliseconds on many kernels.
pub fn thread_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every thread has this clock").into()
}

/// CPU time of this process, of all its threads, since it began. In nanoseconds as well.
pub fn process_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("every process has this clock").into()
}

/// Memory of this process that is resident, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Resident {
    /// Now.
    pub now: u64,
    /// The most since the process was started.
    ///
    /// The `ru_maxrss` of `getrusage` is not that: it begins at the peak of the process
    /// that started this one.
    pub peak: u64,
}

impl Resident {
    /// Reads both. Zero where the kernel is not Linux.
    pub fn read() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
        };
        let bytes = |name| field(name).unwrap_or(0) * 1024;
        Self { now: bytes("VmRSS:"), peak: bytes("VmHWM:") }
    }
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first CPU that this process may use.
    Server,
    /// The last.
    Client,
}

/// Keeps the calling thread, and those it starts from now on, on the CPU of its side.
///
/// Without that the scheduler has the two ends share a CPU or not, and a small body then
/// costs the client twice as much or half. It is no error where it cannot be had.
pub fn pin(side: Side) {
    let this = Pid::from_raw(0);
    let Ok(allowed) = sched_getaffinity(this) else { return };
    let mut cpus = (0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu) == Ok(true));
    let cpu = if side == Side::Server { cpus.next() } else { cpus.next_back() };
    let mut only = CpuSet::new();
    if cpu.is_some_and(|cpu| only.set(cpu).is_ok()) {
        let _ = sched_setaffinity(this, &only);
    }
}
