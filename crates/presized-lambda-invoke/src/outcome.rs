use super::{Error, ErrorKind};

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The function returned a response, or Lambda queued the event.
    Succeeded,
    /// The function ran and failed.
    FunctionError,
    /// Lambda refused the call because of its rate or concurrency.
    Throttled,
    /// Lambda returned another error.
    ServiceError,
    /// The deadline of the call passed, or its last attempt timed out.
    TimedOut,
    /// The connection could not be made, or it broke.
    ConnectionError,
    /// The response exceeded the limit, or there was no memory for it.
    TooLarge,
    /// The memory budget had no room for the response in time.
    BudgetFull,
    /// The call was not sent, because its input was invalid or no credentials were available.
    NotSent,
    /// The call was dropped before it had ended.
    Cancelled,
}

impl Outcome {
    /// Returns the outcome of a call that failed.
    pub(super) fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Service(error) if error.is_throttling() => Self::Throttled,
            ErrorKind::Service(_) => Self::ServiceError,
            ErrorKind::Function(_) => Self::FunctionError,
            ErrorKind::Timeout { .. } => Self::TimedOut,
            ErrorKind::BudgetFull { .. } => Self::BudgetFull,
            ErrorKind::Connect(_) | ErrorKind::Broken(_) => Self::ConnectionError,
            ErrorKind::TooLarge(_) | ErrorKind::Memory(_) => Self::TooLarge,
            ErrorKind::Config(_) | ErrorKind::BadInput(_) | ErrorKind::Credentials(_) => {
                Self::NotSent
            }
        }
    }
}
