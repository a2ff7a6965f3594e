//! The attempts of one call: everything between a request and its answer.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, Uri, response};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tracing::Instrument;

use super::client::{CallOptions, Shared};
use super::observe::Recorder;
use super::path::Target;
use super::service_error::request_id;
use super::sign::PayloadHash;
use super::transport::{Phase, SendError};
use super::wire::Operation;
use super::{Error, ErrorKind, Invocation, ServiceError};
use presized::Collect;

/// One call, whatever its attempts.
pub(super) struct Call {
    pub(super) shared: Arc<Shared>,
    pub(super) target: Target,
    pub(super) headers: HeaderMap,
    pub(super) payload: Bytes,
    pub(super) payload_hash: PayloadHash,
    pub(super) deadline: Instant,
    pub(super) options: CallOptions,
}

/// What a call is answered with: [`Invocation`] or
/// [`ResponseStream`](super::ResponseStream).
pub(super) trait Answer: Sized {
    const OPERATION: Operation;

    /// Reads the answer as far as an attempt goes.
    fn read(
        call: &Call,
        head: response::Parts,
        body: Incoming,
        attempts: u32,
    ) -> impl Future<Output = Result<Self, Error>> + Send;

    /// Takes over who tells what became of the call.
    fn recorded_by(self, recorder: Recorder) -> Self;
}

impl Call {
    /// Attempts the call until it is answered or given up.
    pub(super) async fn run<A: Answer>(self, mut recorder: Recorder) -> Result<A, Error> {
        let span = recorder.span().clone();
        match self.attempts(&mut recorder).instrument(span).await {
            Ok(answer) => Ok(A::recorded_by(answer, recorder)),
            Err(error) => {
                recorder.failed(&error);
                Err(error)
            }
        }
    }

    async fn attempts<A: Answer>(&self, recorder: &mut Recorder) -> Result<A, Error> {
        let mut may_have_run = false;
        let mut clock_corrected = false;
        // More than the attempts, where there were no credentials in time for one.
        let mut tries = 0;
        loop {
            tries += 1;
            let failure = match self.attempt(recorder).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            may_have_run |= failure.error.may_have_run();
            let delay = if failure.clock_was_wrong && !clock_corrected {
                // It was refused for the time it was signed at, and is signed anew.
                clock_corrected = true;
                Some(Duration::ZERO)
            } else {
                let retry_after_send = self.options.retry_after_send;
                self.shared.retry.delay(&failure.error, tries, retry_after_send, fastrand::f64())
            };
            // Whoever cannot wait that long gets the reason now, and not a timeout later.
            let delay = delay.filter(|&delay| {
                Instant::now().checked_add(delay).is_some_and(|then| then < self.deadline)
            });
            let Some(delay) = delay else {
                return Err(failure.error.after(recorder.attempts(), may_have_run));
            };
            tracing::debug!(error = %failure.error, ?delay, "trying again");
            sleep(delay).await;
        }
    }

    /// One attempt, in the time that is left for it.
    async fn attempt<A: Answer>(&self, recorder: &mut Recorder) -> Result<A, Failure> {
        let now = Instant::now();
        let of_attempt = self.options.attempt_timeout.and_then(|timeout| now.checked_add(timeout));
        let deadline = of_attempt.map_or(self.deadline, |end| end.min(self.deadline));
        let timed_out = |recorder: &Recorder, may_have_run| {
            Error::new(ErrorKind::Timeout { after: recorder.elapsed() }, may_have_run)
        };

        let credentials = match timeout_at(deadline, self.shared.credentials.get()).await {
            Ok(credentials) => credentials.map_err(Error::credentials)?,
            Err(_) => return Err(timed_out(recorder, false).into()),
        };
        // A future is polled before its deadline is looked at, and this one sends.
        if deadline <= Instant::now() {
            return Err(timed_out(recorder, false).into());
        }
        let signed_at = self.shared.clock.now();
        let request = self.request(&credentials, signed_at)?;
        recorder.attempt();
        let mut sending = self.shared.transport.send(request);
        let response = match timeout_at(deadline, &mut sending).await {
            Ok(Ok(response)) => response,
            Ok(Err(SendError { phase: Phase::MaybeSent, source })) => {
                return Err(Error::broken(source).into());
            }
            Ok(Err(SendError { phase: Phase::Connect | Phase::NotSent, source })) => {
                return Err(Error::unsent(ErrorKind::Connect(source)).into());
            }
            Err(_) => {
                let may_have_run = sending.abandon() == Phase::MaybeSent;
                return Err(timed_out(recorder, may_have_run).into());
            }
        };

        let (head, body) = response.into_parts();
        let request_id = request_id(&head.headers);
        recorder.answered(head.status, request_id.as_deref());
        if !head.status.is_success() {
            return Err(self.refusal(head, body, &credentials, signed_at).await);
        }
        match timeout_at(deadline, A::read(self, head, body, recorder.attempts())).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(error.with_request_id(request_id).into()),
            Err(_) => Err(timed_out(recorder, true).with_request_id(request_id).into()),
        }
    }

    fn request(
        &self,
        credentials: &Credentials,
        now: SystemTime,
    ) -> Result<Request<Full<Bytes>>, Error> {
        let mut headers = self.headers.clone();
        self.shared
            .signer
            .sign(&Method::POST, &self.target, &mut headers, &self.payload_hash, credentials, now)
            .map_err(Error::bad_input)?;
        let endpoint = &self.shared.endpoint;
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

    /// What Lambda says instead of an answer of the function. Its status says enough, where the
    /// body cannot be read.
    async fn refusal(
        &self,
        head: response::Parts,
        body: Incoming,
        credentials: &Credentials,
        signed_at: SystemTime,
    ) -> Failure {
        let limit = self.options.reader.get_limit().min(ERROR_BODY_LIMIT);
        let reading = Collect::of_response(&Method::POST, &head, body, limit).prefix();
        let body = match timeout_at(self.deadline, timeout(ERROR_BODY_TIMEOUT, reading)).await {
            Ok(Ok(Ok(prefix))) => prefix.content,
            Ok(Ok(Err(error))) => error.into_partial(),
            Ok(Err(_)) | Err(_) => Bytes::new(),
        };
        let error = ServiceError::parse(&head, body);
        if error.is_expired_token() {
            self.shared.credentials.invalidate(credentials);
        }
        let clock_was_wrong = head.status == StatusCode::FORBIDDEN
            && self.shared.clock.learn(signed_at, &head.headers);
        Failure { error: Error::service(error), clock_was_wrong }
    }
}

impl Answer for Invocation {
    const OPERATION: Operation = Operation::Invoke;

    async fn read(
        call: &Call,
        head: response::Parts,
        body: Incoming,
        attempts: u32,
    ) -> Result<Self, Error> {
        let reader = call.options.reader.clone();
        let collect = Collect::of_response(&Method::POST, &head, body, reader);
        match collect.bytes().await {
            Ok(payload) => Ok(Self::new(&head, payload, attempts)),
            Err(error) => Err(Error::read(error.map_body(io::Error::other))),
        }
    }

    fn recorded_by(self, mut recorder: Recorder) -> Self {
        recorder.received(self.payload.len());
        match self.function_error {
            Some(_) => recorder.function_failed(),
            None => recorder.succeeded(),
        }
        self
    }
}

/// How an attempt failed.
struct Failure {
    error: Error,
    /// It may have failed for the time it was signed at, which the next one has right.
    clock_was_wrong: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, clock_was_wrong: false }
    }
}

/// Longer ones are of proxies, and nobody reads them.
const ERROR_BODY_LIMIT: u64 = 64 << 10;

/// Error bodies are short and come with their heads.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);
