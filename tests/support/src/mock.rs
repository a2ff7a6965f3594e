//! Bodies that are scripted frame by frame.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

/// One step of a [`Mock`].
#[derive(Debug)]
pub enum Step {
    /// A data frame.
    Data(Bytes),
    /// A trailers frame.
    Trailers(HeaderMap),
    /// The body fails.
    Fail(&'static str),
    /// The body is pending once, and wakes the task at once.
    Wait,
    /// The body is pending for ever, and never wakes the task.
    Hang,
}

/// The error of a [`Mock`].
#[derive(Debug, PartialEq, Eq)]
pub struct MockError(pub &'static str);

impl std::fmt::Display for MockError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for MockError {}

/// A body that yields a list of steps and then ends.
#[derive(Debug, Default)]
pub struct Mock {
    steps: VecDeque<Step>,
    hint: SizeHint,
    /// Polls that are left until `is_end_stream` is true.
    end_stream_after: Option<u32>,
}

impl Mock {
    /// Creates a body of these steps, without a size hint.
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect(), ..Self::default() }
    }

    /// Creates a body of these data frames, without a size hint.
    pub fn of<T: AsRef<[u8]>>(frames: impl IntoIterator<Item = T>) -> Self {
        Self::new(
            frames.into_iter().map(|frame| Step::Data(Bytes::copy_from_slice(frame.as_ref()))),
        )
    }

    /// Sets the size hint, whatever the steps are.
    pub fn hint(mut self, lower: u64, upper: Option<u64>) -> Self {
        let mut hint = SizeHint::new();
        hint.set_lower(lower);
        if let Some(upper) = upper {
            hint.set_upper(upper);
        }
        self.hint = hint;
        self
    }

    /// Sets an exact size hint, whatever the steps are.
    pub fn exact(self, length: u64) -> Self {
        self.hint(length, Some(length))
    }

    /// Makes `is_end_stream` true from the start, whatever the steps are.
    pub fn end_stream(self) -> Self {
        self.end_stream_after(0)
    }

    /// Makes `is_end_stream` true after this many polls, whatever the steps are.
    pub fn end_stream_after(mut self, polls: u32) -> Self {
        self.end_stream_after = Some(polls);
        self
    }
}

impl Body for Mock {
    type Data = Bytes;
    type Error = MockError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, MockError>>> {
        if let Some(polls) = &mut self.end_stream_after {
            *polls = polls.saturating_sub(1);
        }
        match self.steps.pop_front() {
            None => Poll::Ready(None),
            Some(Step::Data(data)) => Poll::Ready(Some(Ok(Frame::data(data)))),
            Some(Step::Trailers(trailers)) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
            Some(Step::Fail(why)) => Poll::Ready(Some(Err(MockError(why)))),
            Some(Step::Wait) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(Step::Hang) => {
                self.steps.push_front(Step::Hang);
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.end_stream_after == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.hint
    }
}

/// A body with this size hint that panics if it is polled.
#[derive(Debug)]
pub struct Unpolled(pub SizeHint);

impl Body for Unpolled {
    type Data = Bytes;
    type Error = MockError;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, MockError>>> {
        panic!("polled")
    }

    fn size_hint(&self) -> SizeHint {
        self.0
    }
}
