use std::fmt;
use std::time::Duration;

/// The limit that ended a call: see [`ErrorKind::Timeout`](super::ErrorKind::Timeout).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutLimit {
    /// The deadline of the call, or its timeout.
    Deadline,
    /// The [attempt timeout](super::ClientBuilder::attempt_timeout), with its length.
    Attempt(Duration),
    /// The [idle timeout](super::ClientBuilder::stream_idle_timeout) of a stream, with its length.
    StreamIdle(Duration),
}

/// The phase in which a call was when it timed out: see
/// [`ErrorKind::Timeout`](super::ErrorKind::Timeout).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutPhase {
    /// It had sent nothing and waited for nothing yet.
    Start,
    /// It waited for the credentials provider.
    Credentials,
    /// It waited for a connection.
    Connect,
    /// It sent the request or waited for the head of the response.
    Response,
    /// It read the body of the response.
    Body,
}

impl fmt::Display for TimeoutLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline => f.write_str("the deadline of the call passed"),
            Self::Attempt(timeout) => write!(f, "the attempt timeout of {timeout:?} passed"),
            Self::StreamIdle(timeout) => {
                write!(f, "no byte of the stream arrived for {timeout:?}")
            }
        }
    }
}

impl fmt::Display for TimeoutPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "before the request was sent",
            Self::Credentials => "while waiting for the credentials provider",
            Self::Connect => "while waiting for a connection",
            Self::Response => "while waiting for the response",
            Self::Body => "while reading the response",
        })
    }
}
