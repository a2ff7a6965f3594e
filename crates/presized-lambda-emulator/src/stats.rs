//! What an emulator has seen.

/// What became of the calls to one function, counted since the start of the emulator.
///
/// When nothing is under way, `invoked` is the sum of `responses`, `errors` and `timeouts`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Calls that were taken on, to be answered or as an event. Dry runs are none.
    pub invoked: u64,
    /// Events that were handed to a runtime. An assertion that a function was executed once
    /// asks for 1 here.
    pub started: u64,
    /// Answers that were taken whole, streamed ones included.
    pub responses: u64,
    /// Calls that ended in a function error: one that the runtime reported, an answer that was
    /// too large or broke off, or a process that ended.
    pub errors: u64,
    /// Calls that the function, or its start, took too long for.
    pub timeouts: u64,
    /// Calls that were refused with status 429, and are not among `invoked`.
    pub throttled: u64,
    /// Requests of a runtime that were refused: with status 400, 403, 404, 410 or 413.
    pub rejected: u64,
}
