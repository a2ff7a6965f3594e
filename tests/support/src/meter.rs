//! CPU time and resident memory from the kernel, and CPU pinning, which makes them comparable.

use std::fs;
use std::time::Duration;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;

/// Returns the CPU time of the calling thread since its start, to the nanosecond.
///
/// `getrusage` is less exact. For a running thread it is as old as the last tick of the scheduler, which
/// comes every four milliseconds on many kernels.
pub fn thread_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every thread has this clock").into()
}

/// Returns the CPU time of all threads of this process since its start, to the nanosecond.
pub fn process_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("every process has this clock").into()
}

/// The resident memory of this process, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Resident {
    /// The resident memory now.
    pub now: u64,
    /// The most resident memory since the start of the process.
    ///
    /// `ru_maxrss` of `getrusage` is something else: it starts at the peak of the parent process.
    pub peak: u64,
}

impl Resident {
    /// Reads both values. They are 0 on a kernel other than Linux.
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
    /// The server, on the first CPU that this process may use.
    Server,
    /// The client, on the last CPU that this process may use.
    Client,
}

/// Pins the calling thread, and the threads that it starts later, to the CPU of its side.
///
/// Without pinning, both ends may or may not share a CPU. The cost of a small body for the client then
/// varies by a factor of two. A failure is ignored.
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
