//! A body with one data frame: the whole content of another body.

use std::fmt;
use std::future::Pending;
use std::mem;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use crate::collector::{Collector, Finished};
use crate::options::Options;
use crate::{Collect, CollectError, Collected, Progress, Reader};

/// A body that yields the whole content of `B` as one data frame, then its trailers.
///
/// A consumer that collects this body finds one contiguous buffer and copies nothing.
/// [`Collect::into_presized`] makes it with all options.
///
/// Once polled, it reads `B` to its end before it yields anything, and then drops `B`.
///
/// # Errors
///
/// A [`CollectError`] in place of the data. It is the last item.
///
/// # Cancel safety
///
/// Nothing is lost between two polls. Dropping it drops `B` and frees what was reserved.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use http_body_util::{BodyExt, Full};
/// use presized::Presized;
///
/// let body = Presized::new(Full::<bytes::Bytes>::from("hello"), 1024);
/// assert_eq!(body.collect().await?.to_bytes(), "hello");
/// # Ok(())
/// # }
/// ```
#[must_use = "bodies do nothing unless polled"]
pub struct Presized<B: Body, F = fn(Progress) -> ControlFlow<()>, U = Pending<()>> {
    state: State<B, F, U>,
}

enum State<B: Body, F, U> {
    Reading(Reading<B, F, U>),
    Read { content: Option<Bytes>, trailers: Option<HeaderMap> },
}

struct Reading<B: Body, F, U> {
    // Boxed, because a pinned field needs either unsafe code or one more dependency, and a bound
    // would exclude bodies that are not `Unpin`.
    body: Pin<Box<B>>,
    until: Pin<Box<U>>,
    collector: Box<Collector<B::Data>>,
    on_progress: F,
    /// The size hint before the body was read. All of the content is still to be yielded.
    hint: Option<SizeHint>,
}

impl<B: Body, F: FnMut(Progress) -> ControlFlow<()>, U: Future> Reading<B, F, U> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Finished, CollectError<B::Error>>> {
        self.hint.get_or_insert_with(|| self.body.size_hint());
        let (body, until) = (self.body.as_mut(), self.until.as_mut());
        self.collector.poll(body, cx, &mut self.on_progress, until)
    }
}

impl<B: Body> Presized<B> {
    /// Reads `body` when polled. `reader` is the limit in bytes, inclusive, or a [`Reader`].
    pub fn new(body: B, reader: impl Into<Reader>) -> Self {
        Collect::new(body, reader).into_presized()
    }
}

impl<B: Body, F, U> Presized<B, F, U> {
    pub(crate) fn with(body: B, options: Options, on_progress: F, until: U) -> Self {
        let collector = Box::new(Collector::new(options));
        let (body, until) = (Box::pin(body), Box::pin(until));
        Self { state: State::Reading(Reading { body, until, collector, on_progress, hint: None }) }
    }
}

impl<B, F, U> Body for Presized<B, F, U>
where
    B: Body,
    F: FnMut(Progress) -> ControlFlow<()>,
    U: Future,
{
    type Data = Bytes;
    type Error = CollectError<B::Error>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let state = &mut self.get_mut().state;
        // After a panic while reading there is nothing to continue with.
        let nothing = State::Read { content: None, trailers: None };
        let (content, trailers) = match mem::replace(state, nothing) {
            State::Read { content, trailers } => (content, trailers),
            State::Reading(mut reading) => {
                let Poll::Ready(result) = reading.poll(cx) else {
                    *state = State::Reading(reading);
                    return Poll::Pending;
                };
                // The body is dropped before the caller sees the result.
                drop(reading);
                let collected = Collected::from(result?);
                let content = Some(collected.content).filter(|content| !content.is_empty());
                (content, collected.trailers)
            }
        };
        let Some(content) = content else {
            return Poll::Ready(trailers.map(Frame::trailers).map(Ok));
        };
        *state = State::Read { content: None, trailers };
        Poll::Ready(Some(Ok(Frame::data(content))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            State::Reading(reading) => reading.hint.is_none() && reading.body.is_end_stream(),
            State::Read { content, trailers } => content.is_none() && trailers.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.state {
            State::Reading(reading) => reading.hint.unwrap_or_else(|| reading.body.size_hint()),
            State::Read { content, .. } => {
                SizeHint::with_exact(content.as_ref().map_or(0, |content| content.len() as u64))
            }
        }
    }
}

// `B` and `U` are pinned in boxes, and `F` is never pinned.
impl<B: Body, F, U> Unpin for Presized<B, F, U> {}

impl<B: Body, F, U> fmt::Debug for Presized<B, F, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Reading { .. } => "Reading",
            State::Read { .. } => "Read",
        };
        f.debug_tuple("Presized").field(&format_args!("{state}")).finish()
    }
}
