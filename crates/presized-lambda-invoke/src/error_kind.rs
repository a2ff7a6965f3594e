use std::io;
use std::time::Duration;

use presized::CollectError;

use super::{BoxError, ServiceError, StreamedFunctionError, TimeoutLimit, TimeoutPhase};

/// The reason why a call failed, with its details.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The settings of the client are invalid, contradict each other, or one is missing.
    Config(BoxError),
    /// The call cannot be written as a request.
    BadInput(BoxError),
    /// No credentials are available.
    Credentials(BoxError),
    /// The connection could not be made, a proxy refused the request, or the connection was closed
    /// before a byte was written. It is also the error if an HTTP/2 server reported that it had not
    /// processed the request (RFC 9113, section 8.7).
    /// [`Error::connect_kind`](super::Error::connect_kind) tells these apart.
    Connect(BoxError),
    /// Lambda returned an error instead of a response of the function.
    Service(ServiceError),
    /// The function failed after its response had begun.
    Function(StreamedFunctionError),
    /// The deadline of the call passed, the last
    /// [attempt timed out](super::ClientBuilder::attempt_timeout), or no byte of a stream arrived
    /// within its [idle timeout](super::ClientBuilder::stream_idle_timeout).
    #[non_exhaustive]
    Timeout {
        /// The time since the call began.
        after: Duration,
        /// The limit that passed.
        limit: TimeoutLimit,
        /// The phase of the call at that time.
        phase: TimeoutPhase,
    },
    /// The [memory budget](presized::MemoryBudget) of the reader had no room for the response until
    /// the deadline of the call or the end of the attempt.
    ///
    /// The function is not the reason. Use a larger budget, fewer calls at a time or a smaller
    /// limit. A call whose response waited is not retried, even with
    /// [`retry_after_send`](super::ClientBuilder::retry_after_send), because the function would run
    /// again while there is no memory for its response.
    #[non_exhaustive]
    BudgetFull {
        /// The time since the call began.
        after: Duration,
        /// The bytes of the budget that the response waited for, beyond those that it had. `None`
        /// if the call was not sent, because responses were waiting for the budget already or all of
        /// it was in use.
        requested: Option<u64>,
        /// The capacity of the budget in bytes.
        capacity: u64,
        /// The bytes of the budget that were in use.
        in_use: u64,
    },
    /// The connection failed after the request may have been sent, or the response is invalid or
    /// slower than the [`MinRate`](presized::MinRate) of the reader.
    Broken(BoxError),
    /// The response exceeds the limit.
    TooLarge(CollectError<io::Error>),
    /// The process or the memory budget has no memory for the response.
    Memory(CollectError<io::Error>),
}
