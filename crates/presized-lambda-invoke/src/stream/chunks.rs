//! The loop of a streamed answer: data of a body in, chunks of the function's answer out.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http::StatusCode;
use http_body::Body;
use tokio::time::{Instant, Sleep, sleep_until};

use super::super::error::{BoxError, Error, ErrorKind, StreamedFunctionError};
use super::super::frames::{FrameError, Frames};
use super::super::observe::Recorder;
use super::super::service_error::ServiceError;
use super::Completion;
use super::event::{Complete, Event, Exception};
use presized::CollectError;

/// The chunks of a streamed answer. `B` is the body of the response.
pub(super) struct Chunks<B> {
    pub(super) head: Head,
    /// How the function ended, once the stream has ended well.
    pub(super) completion: Option<Completion>,
    /// The body, while anything is wanted of it.
    body: Option<B>,
    frames: Frames,
    /// Bytes in all chunks.
    received: u64,
    /// Who tells what became of the call.
    recorder: Option<Recorder>,
    deadline: Pin<Box<Sleep>>,
    stage: Stage,
}

/// What is known of the call before the first chunk.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) request_id: Option<String>,
    pub(super) executed_version: Option<String>,
    pub(super) attempts: u32,
}

impl Head {
    /// The error, with what is known of the call. Whatever it is, the function has been started.
    pub(super) fn error(&self, error: Error) -> Error {
        error.with_request_id(self.request_id.clone()).after(self.attempts, true)
    }
}

enum Stage {
    Reading,
    /// The function has ended like this, and the body has not yet.
    Ending(Result<Completion, Error>),
    Ended,
}

impl<B> Chunks<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    pub(super) fn new(head: Head, body: B, deadline: Instant) -> Self {
        Self {
            head,
            completion: None,
            body: Some(body),
            frames: Frames::default(),
            received: 0,
            recorder: None,
            deadline: Box::pin(sleep_until(deadline)),
            stage: Stage::Reading,
        }
    }

    /// Lets `recorder` tell of the call, once the stream has ended or is dropped.
    pub(super) fn recorded_by(self, recorder: Recorder) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    /// The next event that is in the data already, or `None` where more of it is needed.
    fn event(&mut self) -> Result<Option<Event>, Error> {
        match self.frames.decode() {
            Ok(Some(frame)) => Event::read(frame).map(Some).map_err(Error::broken),
            Ok(None) => Ok(None),
            Err(FrameError::OutOfMemory(requested)) => {
                Err(Error::read(CollectError::out_of_memory(requested as u64, self.received)))
            }
            Err(error) => Err(Error::broken(error)),
        }
    }

    /// More data from the body. The end of it is an error.
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.deadline.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(self.timed_out()));
        }
        let next = match &mut self.body {
            Some(body) => ready!(Pin::new(body).poll_frame(cx)),
            None => None,
        };
        Poll::Ready(match next {
            Some(Ok(frame)) => {
                // Trailers have no meaning for this operation.
                if let Ok(data) = frame.into_data() {
                    self.frames.feed(data);
                }
                Ok(())
            }
            Some(Err(source)) => Err(Error::broken(source)),
            None if self.frames.is_between_frames() => Err(Error::broken(NO_COMPLETION)),
            None => Err(Error::broken(CUT_FRAME)),
        })
    }

    /// What comes after the end of the function: the end of the body, and whatever else it is
    /// changes nothing.
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.frames.is_between_frames() {
            if ready!(self.poll_data(cx)).is_err() {
                break;
            }
        }
        Poll::Ready(())
    }

    /// The function has ended, or Lambda has given up on it.
    fn ending(&mut self, outcome: Result<Completion, Error>) {
        self.stage = Stage::Ending(outcome);
        // A connection of which the body was read to the end can be used again. That is worth a
        // moment, and not all the time that the function was given.
        let patience = Instant::now() + LINGER;
        if patience < self.deadline.deadline() {
            self.deadline.as_mut().reset(patience);
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

    /// Ends the stream with an error, to which it adds what is known of the call.
    pub(super) fn fail(&mut self, error: Error) -> Error {
        self.close();
        let error = self.head.error(error);
        if let Some(mut recorder) = self.recorder.take() {
            recorder.failed(&error);
        }
        error
    }

    /// Drops what the stream was read from.
    fn close(&mut self) {
        self.stage = Stage::Ended;
        self.body = None;
        self.frames = Frames::default();
    }

    /// When the stream is given up.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline.deadline()
    }

    /// That the deadline has passed.
    pub(super) fn timed_out(&self) -> Error {
        let after = self.recorder.as_ref().map(Recorder::elapsed).unwrap_or_default();
        Error::new(ErrorKind::Timeout { after }, true)
    }
}

impl<B> Stream for Chunks<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        for _ in 0..STEPS_IN_ONE_GO {
            match &mut this.stage {
                Stage::Reading => match this.event() {
                    Ok(Some(Event::Chunk(chunk))) if !chunk.is_empty() => {
                        this.received += chunk.len() as u64;
                        if let Some(recorder) = &mut this.recorder {
                            recorder.received(chunk.len());
                        }
                        return Poll::Ready(Some(Ok(chunk)));
                    }
                    // An event that this version does not know is for later ones.
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
        // Whoever sends only what is skipped does not keep others from their turn.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// The function succeeded unless it says otherwise.
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

const NO_COMPLETION: &str = "stream ended without an InvokeComplete event";

const CUT_FRAME: &str = "stream ended inside an event stream frame";

/// Frames of the body and events that are taken in one go without giving out a chunk.
const STEPS_IN_ONE_GO: u32 = 64;

/// How long the end of the body may take after the end of the function: the last chunk of
/// HTTP/1.1 has mostly arrived with it.
const LINGER: Duration = Duration::from_millis(100);
