//! The two ways of a runtime to poll for events.

/// The number of events that a runtime gets at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuntimeMode {
    /// One event, and the next one after its response.
    Classic,
    /// One event for each open poll.
    Concurrent,
}
