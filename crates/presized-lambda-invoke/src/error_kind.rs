use std::io;
use std::time::Duration;

use presized::CollectError;

use super::{BoxError, ServiceError, StreamedFunctionError};

/// Why a call failed, with the details of each reason.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The settings of the client are invalid, contradict each other, or one is missing.
    Config(BoxError),
    /// The call cannot be written as a request.
    BadInput(BoxError),
    /// No credentials are available.
    Credentials(BoxError),
    /// The connection could not be made, or it was closed before a byte was written, or an HTTP/2
    /// server reported that it had not processed the request (RFC 9113, section 8.7).
    Connect(BoxError),
    /// Lambda returned an error instead of a response of the function.
    Service(ServiceError),
    /// The function failed after its response had begun.
    Function(StreamedFunctionError),
    /// The deadline of the call passed, or the last
    /// [attempt timed out](super::ClientBuilder::attempt_timeout).
    #[non_exhaustive]
    Timeout {
        /// The time since the call began.
        after: Duration,
    },
    /// The connection failed after the request may have been sent, or the response is invalid or
    /// slower than the [`MinRate`](presized::MinRate) of the reader.
    Broken(BoxError),
    /// The response exceeds the limit.
    TooLarge(CollectError<io::Error>),
    /// The process or the memory budget has no memory for the response.
    Memory(CollectError<io::Error>),
}
