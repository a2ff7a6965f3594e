//! The counters of a function.

/// Counts the calls to one function, and what became of them.
///
/// When no invocation is queued or running, `invoked` and `redelivered` are the sum of `responses`,
/// `errors` and `timeouts`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The number of accepted calls. Dry runs do not count.
    pub invoked: u64,
    /// The number of events that were queued once more: after a failure, or because a fault
    /// duplicated them.
    pub redelivered: u64,
    /// The number of events that a runtime has received. To assert that a function ran exactly
    /// once, compare this with 1.
    pub started: u64,
    /// The number of complete responses, buffered and streamed.
    pub responses: u64,
    /// The number of function errors: a reported error, a response that was too large or
    /// incomplete, or a process that ended.
    pub errors: u64,
    /// The number of calls that exceeded the timeout, or found no runtime in time.
    pub timeouts: u64,
    /// The number of calls that were refused with status 429. They are not counted in `invoked`.
    pub throttled: u64,
    /// The number of execution environments that [`attach`](crate::Emulator::attach) or
    /// [`spawn`](crate::Emulator::spawn) has started, which is the number of cold starts.
    pub environments: u64,
    /// The number of requests of a runtime that were refused: with status 400, 403, 404, 410 or
    /// 413, or with 500 while the emulator was being dropped.
    pub rejected: u64,
}
