//! The loop of a streamed response: it turns the data of the body into chunks.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http::StatusCode;
use http_body::Body;
use presized::CollectError;
use tokio::time::{Instant, Sleep, sleep_until};

use super::super::arrived::Arrived;
use super::super::frame_decoder::FrameDecoder;
use super::super::frame_error::FrameError;
use super::super::recorder::Recorder;
use super::super::{
    BoxError, Error, ErrorKind, ServiceError, StreamedFunctionError, TimeoutLimit, TimeoutPhase,
};
use super::Completion;
use super::content_type_error::ContentTypeError;
use super::event::{Complete, Event, Exception};
use super::idle::Idle;

/// The chunks of a streamed response. `B` is the response body.
pub(super) struct Chunks<B> {
    pub(super) head: Head,
    /// Set when the stream has ended without an error.
    pub(super) completion: Option<Completion>,
    /// Dropped when the stream ends.
    body: Option<B>,
    decoder: FrameDecoder,
    /// The bytes in all chunks so far.
    received: u64,
    /// Reports the call when the stream has ended.
    pub(super) recorder: Option<Recorder>,
    deadline: Pin<Box<Sleep>>,
    idle: Option<Idle>,
    stage: Stage,
}

/// The head of a streamed response.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) request_id: Option<String>,
    pub(super) executed_version: Option<String>,
    pub(super) attempts: u32,
    /// The content type, if it is not that of an event stream.
    pub(super) other_type: Option<String>,
}

impl Head {
    /// Adds the request id and the attempts to an error. The function has run in any case.
    pub(super) fn error(&self, error: Error) -> Error {
        error.with_request_id(self.request_id.clone()).after(self.attempts, true)
    }
}

enum Stage {
    Reading,
    /// The function has ended, and the body has not.
    Ending(Result<Completion, Error>),
    Ended,
}

impl<B> Chunks<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    pub(super) fn new(
        head: Head,
        body: B,
        deadline: Instant,
        idle_timeout: Option<Duration>,
    ) -> Self {
        Self {
            head,
            completion: None,
            body: Some(body),
            decoder: FrameDecoder::default(),
            received: 0,
            recorder: None,
            deadline: Box::pin(sleep_until(deadline)),
            idle: idle_timeout.map(Idle::new),
            stage: Stage::Reading,
        }
    }

    /// Sets the recorder, which reports the call when the stream has ended or is dropped.
    pub(super) fn recorded_by(self, recorder: Recorder) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    /// Returns the next event in the data, or `None` if it needs more data.
    fn event(&mut self) -> Result<Option<Event>, Error> {
        match self.decoder.decode() {
            Ok(Some(frame)) => Event::parse(frame).map(Some).map_err(|error| self.invalid(error)),
            Ok(None) => Ok(None),
            Err(FrameError::OutOfMemory(requested)) => {
                Err(Error::read(CollectError::out_of_memory(requested as u64, self.received)))
            }
            Err(error) => Err(self.invalid(error)),
        }
    }

    /// Makes the error of a response that is not a valid event stream.
    fn invalid(&self, source: impl Into<BoxError>) -> Error {
        match self.head.other_type.clone() {
            Some(found) => {
                let source = source.into();
                Error::invalid(ContentTypeError { found, source }, self.arrived())
            }
            None => Error::invalid(source, self.arrived()),
        }
    }

    /// Makes the error of a response that ended before the function did.
    fn ended(&self, source: &'static str) -> Error {
        match self.head.other_type {
            Some(_) => self.invalid(source),
            None => Error::ended(source, self.arrived()),
        }
    }

    /// Returns the part of the response that the caller received.
    pub(super) fn arrived(&self) -> Arrived {
        Arrived { received: self.received, declared: None }
    }

    /// Gives the decoder more data of the body. The end of the body is an error.
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.deadline.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(self.timed_out(TimeoutLimit::Deadline)));
        }
        let next = match &mut self.body {
            Some(body) => match (Pin::new(body).poll_frame(cx), &mut self.idle) {
                (Poll::Ready(next), _) => next,
                (Poll::Pending, None) => return Poll::Pending,
                (Poll::Pending, Some(idle)) => {
                    ready!(idle.poll(cx));
                    let limit = TimeoutLimit::StreamIdle(idle.timeout());
                    return Poll::Ready(Err(self.timed_out(limit)));
                }
            },
            None => None,
        };
        Poll::Ready(match next {
            Some(Ok(frame)) => {
                // The operation defines no trailers.
                if let Ok(data) = frame.into_data() {
                    if let (Some(idle), false) = (&mut self.idle, data.is_empty()) {
                        idle.stop();
                    }
                    self.decoder.feed(data);
                }
                Ok(())
            }
            Some(Err(source)) => Err(Error::cut(source, self.arrived())),
            None if self.decoder.is_between_frames() => Err(self.ended(NO_COMPLETION)),
            None => Err(self.ended(CUT_FRAME)),
        })
    }

    /// Reads the body to its end, after the function has ended. Errors and further data do not
    /// matter then.
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.decoder.is_between_frames() {
            if ready!(self.poll_data(cx)).is_err() {
                break;
            }
        }
        Poll::Ready(())
    }

    /// Handles the last event of the stream.
    fn ending(&mut self, outcome: Result<Completion, Error>) {
        self.stage = Stage::Ending(outcome);
        // The connection can be used again only if the body is read to its end. That is worth a
        // short wait, but not one until the deadline.
        let end = Instant::now() + LINGER;
        if end < self.deadline.deadline() {
            self.deadline.as_mut().reset(end);
        }
    }

    /// Ends the stream.
    fn end(&mut self, outcome: Result<Completion, Error>) -> Poll<Option<Result<Bytes, Error>>> {
        Poll::Ready(match outcome {
            Ok(completion) => {
                self.close();
                if let Some(mut recorder) = self.recorder.take() {
                    recorder.succeeded();
                }
                self.completion = Some(completion);
                None
            }
            Err(error) => Some(Err(self.fail(error))),
        })
    }

    /// Ends the stream with an error, and adds the request id and the attempts to the error.
    pub(super) fn fail(&mut self, error: Error) -> Error {
        self.close();
        let error = self.head.error(error);
        if let Some(mut recorder) = self.recorder.take() {
            recorder.failed(&error);
        }
        error
    }

    /// Drops the body and the data.
    fn close(&mut self) {
        self.stage = Stage::Ended;
        self.body = None;
        self.decoder = FrameDecoder::default();
    }

    /// Returns the deadline of the stream.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline.deadline()
    }

    /// Returns the time since the call began.
    pub(super) fn elapsed(&self) -> Duration {
        self.recorder.as_ref().map(Recorder::elapsed).unwrap_or_default()
    }

    /// Makes the error of a stream that has taken too long by this limit.
    pub(super) fn timed_out(&self, limit: TimeoutLimit) -> Error {
        Error::timeout(self.elapsed(), limit, TimeoutPhase::Body, true).with_arrived(self.arrived())
    }
}

impl<B> Stream for Chunks<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        for _ in 0..STEPS_PER_POLL {
            match &mut this.stage {
                Stage::Reading => match this.event() {
                    Ok(Some(Event::Chunk(chunk))) if !chunk.is_empty() => {
                        this.received += chunk.len() as u64;
                        if let Some(recorder) = &mut this.recorder {
                            recorder.received(chunk.len());
                        }
                        return Poll::Ready(Some(Ok(chunk)));
                    }
                    // Unknown events are ignored, so that Lambda can add some.
                    Ok(Some(Event::Chunk(_) | Event::Unknown)) => {}
                    Ok(Some(Event::Complete(complete))) => this.ending(completion(complete)),
                    Ok(Some(Event::Exception(exception))) => {
                        this.ending(Err(service_error(&this.head, exception)));
                    }
                    Ok(None) => {
                        if let Err(error) = ready!(this.poll_data(cx)) {
                            return this.end(Err(error));
                        }
                    }
                    Err(error) => return this.end(Err(error)),
                },
                Stage::Ending(_) => {
                    ready!(this.poll_rest(cx));
                    if let Stage::Ending(outcome) = mem::replace(&mut this.stage, Stage::Ended) {
                        return this.end(outcome);
                    }
                }
                Stage::Ended => return Poll::Ready(None),
            }
        }
        // A body that has only ignored events must not block other tasks.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Returns the completion, or the error if the event has an error code.
fn completion(complete: Complete) -> Result<Completion, Error> {
    let log_tail = complete.log_tail();
    match complete.error_code {
        None => Ok(Completion { log_tail }),
        Some(code) => {
            let details = complete.error_details;
            let error = StreamedFunctionError { code, details, log_tail };
            Err(Error::new(ErrorKind::Function(error), true))
        }
    }
}

fn service_error(head: &Head, exception: Exception) -> Error {
    Error::service(ServiceError {
        status: head.status,
        code: exception.code,
        message: exception.message,
        request_id: head.request_id.clone(),
        retry_after: None,
        reason: None,
        body: exception.body,
    })
}

const NO_COMPLETION: &str = "event stream ended without an InvokeComplete event";

const CUT_FRAME: &str = "event stream ended within a frame";

/// The number of body frames and events that one poll handles without yielding a chunk.
const STEPS_PER_POLL: u32 = 64;

/// The time that the end of the body may take after the end of the function. With HTTP/1.1 the last
/// chunk usually arrives at the same time.
const LINGER: Duration = Duration::from_millis(100);
