//! A body that has one data frame: the whole content of another.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use crate::collector::Collector;
use crate::options::Options;
use crate::{Collect, CollectError, Collected, Progress};

/// A body that yields the whole content of `B` as one data frame, then its trailers.
///
/// Whatever collects it next finds one contiguous buffer and copies nothing. Options
/// are set on [`Collect`], which [`Collect::presized`] turns into this.
///
/// Once polled it reads `B` to the end before it yields anything, and drops it then.
///
/// # Errors
///
/// A [`CollectError`] takes the place of the data, and is the last thing it yields.
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
pub struct Presized<B: Body, F = fn(Progress)> {
    state: State<B, F>,
}

enum State<B: Body, F> {
    // Boxed because a pinned field takes either `unsafe` or one more dependency. It is
    // one small allocation for any `B`, where a bound would shut out bodies that are
    // not `Unpin`.
    Reading { body: Pin<Box<B>>, collector: Box<Collector<B::Data>>, on_progress: F },
    Read { content: Option<Bytes>, trailers: Option<HeaderMap> },
}

impl<B: Body> Presized<B> {
    /// The content of `body`, of which at most `limit` bytes are taken, inclusive.
    pub fn new(body: B, limit: u64) -> Self {
        Collect::new(body, limit).presized()
    }
}

impl<B: Body, F> Presized<B, F> {
    pub(crate) fn with(body: B, options: Options, on_progress: F) -> Self {
        let collector = Box::new(Collector::new(options));
        Self { state: State::Reading { body: Box::pin(body), collector, on_progress } }
    }
}

impl<B, F> Body for Presized<B, F>
where
    B: Body,
    F: FnMut(Progress),
{
    type Data = Bytes;
    type Error = CollectError<B::Error>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let state = &mut self.get_mut().state;
        if let State::Reading { body, collector, on_progress } = state {
            let read = ready!(collector.poll(body.as_mut(), cx, on_progress));
            // The body goes here, before anybody can look at the outcome.
            *state = State::Read { content: None, trailers: None };
            let collected = Collected::from(read?);
            *state = State::Read {
                content: Some(collected.content).filter(|content| !content.is_empty()),
                trailers: collected.trailers,
            };
        }
        let State::Read { content, trailers } = state else {
            return Poll::Ready(None);
        };
        let frame = match content.take() {
            Some(content) => Some(Frame::data(content)),
            None => trailers.take().map(Frame::trailers),
        };
        Poll::Ready(frame.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            State::Reading { body, .. } => body.is_end_stream(),
            State::Read { content, trailers } => content.is_none() && trailers.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.state {
            State::Reading { body, .. } => body.size_hint(),
            State::Read { content, .. } => {
                SizeHint::with_exact(content.as_ref().map_or(0, |content| content.len() as u64))
            }
        }
    }
}

// `B` is pinned in a box and `F` is never pinned.
impl<B: Body, F> Unpin for Presized<B, F> {}

impl<B: Body, F> fmt::Debug for Presized<B, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Reading { .. } => "Reading",
            State::Read { .. } => "Read",
        };
        f.debug_tuple("Presized").field(&format_args!("{state}")).finish()
    }
}
