use std::time::Duration;

use http::StatusCode;

use super::Outcome;

/// The report of one call, for metrics.
///
/// Each call is reported once, when it has ended. A streamed call ends with its stream.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallReport<'a> {
    /// The function as the caller named it: a name or an ARN.
    pub function: &'a str,
    /// The qualifier, if it was set apart from the function name.
    pub qualifier: Option<&'a str>,
    /// The outcome of the call.
    pub outcome: Outcome,
    /// The status of the last response, if there was one.
    pub status: Option<StatusCode>,
    /// The request id of the last response, if there was one.
    pub request_id: Option<&'a str>,
    /// The number of attempts.
    pub attempts: u32,
    /// The length of the request payload, in bytes.
    pub request_bytes: u64,
    /// The number of bytes of the response that the caller received.
    pub response_bytes: u64,
    /// The time from the begin of the call to its end, with all attempts and the waits between
    /// them.
    pub elapsed: Duration,
    /// The part of `elapsed` that the call waited for the [memory budget](presized::MemoryBudget),
    /// before it was sent and while its response was read.
    pub budget_wait: Duration,
}
