//! The error of a call.

use std::fmt;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use presized::{CollectError, Partial};

use self::broken::Broken;
use super::arrived::Arrived;
use super::connect_error::ConnectError;
use super::{ConnectErrorKind, ErrorKind, ServiceError, TimeoutLimit, TimeoutPhase};

mod broken;
mod display;

/// A boxed error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The error of a call.
///
/// An error that the function itself returned is not an `Error`, except at the end of a stream:
/// see [`Invocation::function_error`](super::Invocation::function_error).
///
/// `Display` describes the failure of the call, and [`source`](std::error::Error::source) gives its
/// cause. A [`ServiceError`] and a
/// [`StreamedFunctionError`](super::StreamedFunctionError) are described by `Display` itself.
/// Neither `Debug` nor `Display` shows credentials or a payload.
///
/// | [`kind`](Self::kind) | may have run | to do |
/// | --- | --- | --- |
/// | `Config`, `BadInput` | no | change the setting that the source names |
/// | `Credentials` | no | set credentials, or repair the provider that the source names |
/// | `Connect` | no | see [`connect_kind`](Self::connect_kind) |
/// | `Service` | [`may_have_run`](Self::may_have_run) tells | see its code and message |
/// | `Function` | yes | see the log of the function |
/// | `Timeout` | yes, if its phase is `Response` or `Body` | see its limit and phase |
/// | `BudgetFull` | yes, if a response waited | use a larger budget or fewer calls at a time |
/// | `Broken` | yes | call again if the function is idempotent |
/// | `TooLarge`, `Memory` | yes | raise the limit or the budget, or stream the response |
///
/// An earlier attempt of the same call may have run the function in each case.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    may_have_run: bool,
    attempts: u32,
    request_id: Option<String>,
    retry_quota_exhausted: bool,
    /// The part of the response that had arrived when the call timed out.
    arrived: Option<Arrived>,
    /// Describes [`ErrorKind::Broken`].
    broken: Option<Broken>,
    /// The bytes that had arrived, if `kind` does not hold them.
    partial: Partial,
}

impl Error {
    /// Returns why the call failed.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns why the call failed, by value.
    pub fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// Returns whether the function may have run, or may still run.
    ///
    /// False means that nothing was written to the connection or that Lambda refused the request.
    /// In any doubt it is true. Check it before you send a call again whose function is not
    /// idempotent.
    ///
    /// Status 500, 502 and 503 with an error code of Lambda count as a refusal. Without a code
    /// they do not, and neither does 504: Lambda names its errors. A gateway sends such a response
    /// when it has lost a call that it had passed on, and other servers of the same API report a
    /// failed function with it.
    ///
    /// It tells whether a retry is safe. [`is_transient`](Self::is_transient) tells whether a
    /// retry can succeed.
    pub fn may_have_run(&self) -> bool {
        self.0.may_have_run
    }

    /// Returns whether the same call can succeed a little later: the connection failed, the call
    /// timed out, or Lambda refused it temporarily. Some failures of a connection are permanent, such
    /// as a certificate that is not trusted: see [`ConnectErrorKind`]. The client has already made
    /// its [`attempts`](Self::attempts).
    ///
    /// [`may_have_run`](Self::may_have_run) tells whether a retry is safe.
    pub fn is_transient(&self) -> bool {
        match &self.0.kind {
            ErrorKind::Connect(source) => !ConnectError::is_permanent(&**source),
            ErrorKind::Broken(_) | ErrorKind::Timeout { .. } | ErrorKind::BudgetFull { .. } => true,
            ErrorKind::Service(error) => error.is_transient() || error.is_gateway(),
            _ => false,
        }
    }

    /// Returns why there was no connection, if the call failed with
    /// [`Connect`](ErrorKind::Connect).
    pub fn connect_kind(&self) -> Option<ConnectErrorKind> {
        match &self.0.kind {
            ErrorKind::Connect(source) => Some(ConnectError::kind_of(&**source)),
            _ => None,
        }
    }

    /// Returns whether Lambda refused the call because of its rate or concurrency.
    pub fn is_throttling(&self) -> bool {
        matches!(&self.0.kind, ErrorKind::Service(error) if error.is_throttling())
    }

    /// Returns whether the deadline of the call passed, its last attempt timed out, or no byte of a
    /// stream arrived within its [idle timeout](super::ClientBuilder::stream_idle_timeout).
    ///
    /// It is false if the time was spent in a wait for memory, which says nothing about the
    /// function: see [`is_budget_full`](Self::is_budget_full).
    pub fn is_timeout(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Timeout { .. })
    }

    /// Returns whether the memory budget of the reader had no room for the response in time.
    pub fn is_budget_full(&self) -> bool {
        matches!(self.0.kind, ErrorKind::BudgetFull { .. })
    }

    /// Returns whether the response exceeded the limit.
    pub fn is_too_large(&self) -> bool {
        matches!(self.0.kind, ErrorKind::TooLarge(_))
    }

    /// Returns the error of Lambda, if the call failed with one.
    pub fn as_service_error(&self) -> Option<&ServiceError> {
        match &self.0.kind {
            ErrorKind::Service(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the number of attempts. It is 0 if the call failed before the first one.
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// Returns whether the call was not retried because the
    /// [retry quota](super::ClientBuilder::retry_quota) of the client is exhausted.
    pub fn is_retry_quota_exhausted(&self) -> bool {
        self.0.retry_quota_exhausted
    }

    /// Returns the request id of the last response, if there was one.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Returns the bytes that had arrived of a response that broke off, timed out or was too long. It
    /// does so for a stream that was being [collected](super::ResponseStream::collect) too.
    ///
    /// It is empty if the declared length was over the limit, because nothing was read then.
    pub fn into_partial(self) -> Bytes {
        let Inner { kind, partial, .. } = *self.0;
        match kind {
            ErrorKind::TooLarge(error) | ErrorKind::Memory(error) => error.into_partial(),
            ErrorKind::Broken(source) | ErrorKind::Connect(source) => source
                .downcast::<CollectError<io::Error>>()
                .map_or_else(|_| partial.into_bytes(), |error| error.into_partial()),
            _ => partial.into_bytes(),
        }
    }

    /// Makes the error of a call whose function cannot have run.
    pub(super) fn unsent(kind: ErrorKind) -> Self {
        Self::new(kind, false)
    }

    pub(super) fn new(kind: ErrorKind, may_have_run: bool) -> Self {
        let partial = Partial::default();
        Self(Box::new(Inner {
            kind,
            may_have_run,
            attempts: 0,
            request_id: None,
            retry_quota_exhausted: false,
            arrived: None,
            broken: None,
            partial,
        }))
    }

    pub(super) fn config(source: impl Into<BoxError>) -> Self {
        Self::unsent(ErrorKind::Config(source.into()))
    }

    pub(super) fn bad_input(source: impl Into<BoxError>) -> Self {
        Self::unsent(ErrorKind::BadInput(source.into()))
    }

    pub(super) fn credentials(source: impl Into<BoxError>) -> Self {
        Self::unsent(ErrorKind::Credentials(source.into()))
    }

    /// Makes the error of a connection that broke after the request may have been sent and before
    /// the head of a response.
    pub(super) fn no_response(source: impl Into<BoxError>) -> Self {
        let source = source.into();
        Self::broken(Broken::missing(&*source), source)
    }

    /// Makes the error of a connection that broke while the response arrived.
    pub(super) fn cut(source: impl Into<BoxError>, arrived: Arrived) -> Self {
        let source = source.into();
        Self::broken(Broken::cut(&*source, arrived), source)
    }

    /// Makes the error of a response that ended without its last bytes.
    pub(super) fn ended(source: impl Into<BoxError>, arrived: Arrived) -> Self {
        Self::broken(Broken::ended(arrived), source.into())
    }

    /// Makes the error of a response that is invalid.
    pub(super) fn invalid(source: impl Into<BoxError>, arrived: Arrived) -> Self {
        Self::broken(Broken::invalid(arrived), source.into())
    }

    /// Makes the error of a call that timed out.
    pub(super) fn timeout(
        after: Duration,
        limit: TimeoutLimit,
        phase: TimeoutPhase,
        may_have_run: bool,
    ) -> Self {
        Self::new(ErrorKind::Timeout { after, limit, phase }, may_have_run)
    }

    /// Makes the error of a response that could not be collected.
    pub(super) fn read(error: CollectError<io::Error>) -> Self {
        let kind = match error {
            error if error.is_too_large() => ErrorKind::TooLarge(error),
            CollectError::OutOfMemory { .. } | CollectError::Budget { .. } => {
                ErrorKind::Memory(error)
            }
            error => return Self::broken(Broken::read(&error), error.into()),
        };
        Self::new(kind, true)
    }

    pub(super) fn service(error: ServiceError) -> Self {
        let may_have_run = error.may_have_run();
        let request_id = error.request_id.clone();
        Self::new(ErrorKind::Service(error), may_have_run).with_request_id(request_id)
    }

    pub(super) fn with_request_id(mut self, request_id: Option<String>) -> Self {
        if request_id.is_some() {
            self.0.request_id = request_id;
        }
        self
    }

    pub(super) fn with_arrived(mut self, arrived: Arrived) -> Self {
        self.0.arrived = Some(arrived);
        self
    }

    pub(super) fn with_partial(mut self, partial: Partial) -> Self {
        self.0.partial = partial;
        self
    }

    /// Sets the number of attempts, and whether one of the earlier ones may have run the function.
    pub(super) fn after(mut self, attempts: u32, may_have_run: bool) -> Self {
        self.0.attempts = attempts;
        self.0.may_have_run |= may_have_run;
        self
    }

    /// Records that no retry follows because the quota is exhausted.
    pub(super) fn without_retry_quota(mut self) -> Self {
        self.0.retry_quota_exhausted = true;
        self
    }

    fn broken(broken: Broken, source: BoxError) -> Self {
        let mut error = Self::new(ErrorKind::Broken(source), true);
        error.0.broken = Some(broken);
        error
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("may_have_run", &self.0.may_have_run)
            .field("attempts", &self.0.attempts)
            .field("request_id", &self.0.request_id)
            .field("retry_quota_exhausted", &self.0.retry_quota_exhausted)
            .finish()
    }
}
