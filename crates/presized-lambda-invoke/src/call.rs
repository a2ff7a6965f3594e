//! One call: its attempts, up to the response.

use std::error::Error as StdError;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, Uri, response};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tracing::Instrument;

use super::call_options::CallOptions;
use super::client::ClientInner;
use super::clock::Reading;
use super::recorder::Recorder;
use super::service_error::request_id;
use super::sign::PayloadHash;
use super::target::Target;
use super::transport::{Phase, SendError};
use super::wire::{INVOCATION_TYPE, Operation};
use super::{Error, ErrorKind, InvocationType, ServiceError, TimeoutLimit, TimeoutPhase};
use presized::{Collect, CollectError};

mod buffered;

/// One call, with all its attempts.
pub(super) struct Call {
    pub(super) client: Arc<ClientInner>,
    pub(super) target: Target,
    pub(super) headers: HeaderMap,
    pub(super) payload: Bytes,
    pub(super) payload_hash: PayloadHash,
    pub(super) deadline: Instant,
    pub(super) options: CallOptions,
}

/// The result of a call: [`Invocation`](super::Invocation) or
/// [`ResponseStream`](super::ResponseStream).
pub(super) trait CallResponse: Sized {
    const OPERATION: Operation;

    /// Waits until the memory budget has room for a response.
    fn wait_for_room(
        call: &Call,
        recorder: &Recorder,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Reads the part of the response that belongs to the attempt.
    fn read(
        call: &Call,
        head: response::Parts,
        body: Incoming,
        bound: Bound,
        recorder: &Recorder,
    ) -> impl Future<Output = Result<Self, Error>> + Send;

    /// Passes the recorder on to the response.
    fn recorded_by(self, recorder: Recorder) -> Self;
}

impl Call {
    /// Runs the attempts, until one succeeds or none follows.
    pub(super) async fn run<R: CallResponse>(self, mut recorder: Recorder) -> Result<R, Error> {
        let span = recorder.span().clone();
        match self.attempts(&mut recorder).instrument(span).await {
            Ok(response) => Ok(R::recorded_by(response, recorder)),
            Err(error) => {
                recorder.failed(&error);
                Err(error)
            }
        }
    }

    async fn attempts<R: CallResponse>(&self, recorder: &mut Recorder) -> Result<R, Error> {
        let mut may_have_run = false;
        let (mut clock_corrected, mut credentials_replaced) = (false, false);
        // It counts failures to get credentials too, which are no attempts.
        let mut tries = 0;
        let quota = &self.client.retry_quota;
        let mut taken = 0;
        loop {
            tries += 1;
            let failure = match self.attempt(recorder).await {
                Ok(response) => {
                    quota.succeeded(taken);
                    return Ok(response);
                }
                Err(failure) => failure,
            };
            may_have_run |= failure.error.may_have_run();
            // The next signature is another one, and Lambda refused before the function ran.
            let corrected = match &failure.wrong {
                Some(Wrong::Clock) if !clock_corrected => {
                    clock_corrected = true;
                    true
                }
                Some(Wrong::Credentials(refused)) if !credentials_replaced => {
                    credentials_replaced = true;
                    self.provides_others(refused).await
                }
                _ => false,
            };
            let delay = if corrected {
                Some(Duration::ZERO)
            } else {
                let retry_after_send = self.options.retry_after_send;
                self.client.retry.delay(&failure.error, tries, retry_after_send, fastrand::f64())
            };
            // A wait past the deadline would replace this error by a timeout.
            let delay = delay.filter(|&delay| {
                Instant::now().checked_add(delay).is_some_and(|then| then < self.deadline)
            });
            let Some(delay) = delay else {
                return Err(failure.error.after(recorder.attempts(), may_have_run));
            };
            let Some(tokens) = quota.take(&failure.error) else {
                let error = failure.error.after(recorder.attempts(), may_have_run);
                return Err(error.without_retry_quota());
            };
            taken = tokens;
            let error: &(dyn StdError + Send + Sync) = &failure.error;
            tracing::debug!(error, ?delay, "retrying");
            // The bytes that had arrived would hold memory of the budget during the wait.
            drop(failure);
            sleep(delay).await;
        }
    }

    /// Runs one attempt, within its timeout and the deadline of the call.
    async fn attempt<R: CallResponse>(&self, recorder: &mut Recorder) -> Result<R, Failure> {
        R::wait_for_room(self, recorder).await?;
        let bound = Bound::of_attempt(self.deadline, self.options.attempt_timeout);
        let timed_out = |recorder: &Recorder, phase, may_have_run| {
            Error::timeout(recorder.elapsed(), bound.limit, phase, may_have_run)
        };

        let credentials = match timeout_at(bound.at, self.client.credentials.get()).await {
            Ok(credentials) => credentials.map_err(Error::credentials)?,
            Err(_) => return Err(timed_out(recorder, TimeoutPhase::Credentials, false).into()),
        };
        // `timeout_at` polls a future before it checks the deadline, and the future below sends.
        if bound.at <= Instant::now() {
            return Err(timed_out(recorder, TimeoutPhase::Start, false).into());
        }
        let signed = self.client.clock.read();
        let request = self.request(&credentials, signed.time)?;
        recorder.attempt();
        let mut sending = self.client.transport.send(request);
        let response = match timeout_at(bound.at, &mut sending).await {
            Ok(Ok(response)) => response,
            Ok(Err(SendError { phase: Phase::MaybeSent, source })) => {
                return Err(Error::no_response(source).into());
            }
            Ok(Err(SendError { phase: Phase::Connect | Phase::NotSent, source })) => {
                return Err(Error::unsent(ErrorKind::Connect(source)).into());
            }
            Err(_) => {
                return Err(match sending.abandon() {
                    Phase::MaybeSent => timed_out(recorder, TimeoutPhase::Response, true),
                    Phase::Connect | Phase::NotSent => {
                        timed_out(recorder, TimeoutPhase::Connect, false)
                    }
                }
                .into());
            }
        };

        let (head, body) = response.into_parts();
        let request_id = request_id(&head.headers);
        recorder.responded(head.status, request_id.as_deref());
        if !head.status.is_success() {
            return Err(self.service_error(head, body, &credentials, signed).await);
        }
        R::read(self, head, body, bound, recorder)
            .await
            .map_err(|error| error.with_request_id(request_id).into())
    }

    /// Asks the provider again after its credentials were refused, and returns whether it gives
    /// others. Credentials that differ only in their expiry have the same signature.
    async fn provides_others(&self, refused: &Credentials) -> bool {
        match timeout_at(self.deadline, self.client.credentials.get()).await {
            Ok(Ok(provided)) => {
                provided.access_key_id() != refused.access_key_id()
                    || provided.secret_access_key() != refused.secret_access_key()
                    || provided.session_token() != refused.session_token()
            }
            Ok(Err(error)) => {
                let error: &(dyn StdError + 'static) = &error;
                tracing::warn!(error, "credentials have expired and could not be replaced");
                false
            }
            Err(_elapsed) => false,
        }
    }

    /// Returns whether the response has a payload: whether Lambda waits for the function.
    fn has_response(&self) -> bool {
        let invocation_type = self.headers.get(INVOCATION_TYPE);
        invocation_type.is_none_or(|found| found == InvocationType::RequestResponse.as_str())
    }

    fn request(
        &self,
        credentials: &Credentials,
        now: SystemTime,
    ) -> Result<Request<Full<Bytes>>, Error> {
        let mut headers = self.headers.clone();
        self.client
            .signer
            .sign(&Method::POST, &self.target, &mut headers, &self.payload_hash, credentials, now)
            .map_err(Error::bad_input)?;
        let endpoint = &self.client.endpoint;
        let uri = Uri::builder()
            .scheme(endpoint.scheme().clone())
            .authority(endpoint.authority().clone())
            .path_and_query(self.target.path_and_query.clone())
            .build()
            .map_err(Error::bad_input)?;
        let mut request = Request::new(Full::new(self.payload.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        Ok(request)
    }

    /// Reads the error that Lambda returned. Its body may be missing or incomplete. If it does not
    /// end in time, the bytes that had arrived are used.
    async fn service_error(
        &self,
        head: response::Parts,
        body: Incoming,
        credentials: &Credentials,
        signed: Reading,
    ) -> Failure {
        let limit = self.options.reader.get_limit().min(ERROR_BODY_LIMIT);
        let end = self.deadline.min(Instant::now() + ERROR_BODY_TIMEOUT);
        let collect = Collect::of_response(&Method::POST, &head, body, limit);
        let read = collect.until(sleep_until(end)).prefix().await;
        let body = read.map_or_else(CollectError::into_partial, |prefix| prefix.content);
        let error = ServiceError::parse(&head, body);
        if error.is_expired_token() {
            self.client.credentials.invalidate(credentials);
        }
        let clock_was_wrong =
            head.status == StatusCode::FORBIDDEN && self.client.clock.learn(signed, &head.headers);
        let wrong = if clock_was_wrong {
            Some(Wrong::Clock)
        } else {
            error.is_expired_token().then(|| Wrong::Credentials(credentials.clone()))
        };
        Failure { error: Error::service(error), wrong }
    }
}

/// The end of an attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) at: Instant,
    pub(super) limit: TimeoutLimit,
}

impl Bound {
    /// Returns the end of an attempt that begins now.
    fn of_attempt(deadline: Instant, timeout: Option<Duration>) -> Self {
        let end = timeout.and_then(|timeout| Some((Instant::now().checked_add(timeout)?, timeout)));
        match end {
            Some((at, timeout)) if at < deadline => {
                Self { at, limit: TimeoutLimit::Attempt(timeout) }
            }
            _ => Self { at: deadline, limit: TimeoutLimit::Deadline },
        }
    }
}

/// The failure of an attempt.
struct Failure {
    error: Error,
    wrong: Option<Wrong>,
}

/// The part of a signature that was wrong.
enum Wrong {
    /// The clock, which may be the reason, and is corrected now.
    Clock,
    /// The credentials, which had expired and are no longer cached.
    Credentials(Credentials),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, wrong: None }
    }
}

/// The part of an error body that is read, in bytes. Only bodies of proxies are longer.
const ERROR_BODY_LIMIT: u64 = 64 << 10;

/// The time that an error body may take. It is short and usually arrives with the head.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);
