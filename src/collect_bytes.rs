//! The future behind `collect.await`.

use std::fmt;
use std::future::Pending;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Body;

use crate::collector::Collector;
use crate::options::Options;
use crate::{CollectError, Progress};

/// A future that reads a body as [`Bytes`]. Awaiting a [`Collect`](crate::Collect) makes it.
///
/// The body is dropped before the result is returned.
///
/// # Panics
///
/// It panics if it is polled again after it was ready, or after a panic.
///
/// # Cancel safety
///
/// Dropping the future drops the body and frees what was reserved.
#[must_use = "futures do nothing unless polled"]
pub struct CollectBytes<B: Body, F = fn(Progress) -> ControlFlow<()>, U = Pending<()>> {
    /// `None` once it is ready. A second poll would read on after the limit.
    reading: Option<Reading<B, F, U>>,
}

struct Reading<B: Body, F, U> {
    // A pinned field needs either unsafe code or one more dependency.
    body: Pin<Box<B>>,
    until: Pin<Box<U>>,
    collector: Collector<B::Data>,
    on_progress: F,
}

impl<B: Body, F, U> CollectBytes<B, F, U> {
    pub(crate) fn new(body: B, options: Options, on_progress: F, until: U) -> Self {
        let (body, until, collector) = (Box::pin(body), Box::pin(until), Collector::new(options));
        Self { reading: Some(Reading { body, until, collector, on_progress }) }
    }
}

impl<B, F, U> Future for CollectBytes<B, F, U>
where
    B: Body,
    F: FnMut(Progress) -> ControlFlow<()>,
    U: Future,
{
    type Output = Result<Bytes, CollectError<B::Error>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut reading = self.reading.take().expect("`CollectBytes` polled after it was ready");
        let Reading { body, until, collector, on_progress } = &mut reading;
        let result = collector.poll(body.as_mut(), cx, on_progress, until.as_mut());
        let Poll::Ready(result) = result else {
            self.reading = Some(reading);
            return Poll::Pending;
        };
        drop(reading);
        Poll::Ready(result.map(|finished| finished.content.into_bytes()))
    }
}

// `B` and `U` are pinned in boxes, and the other fields are never pinned.
impl<B: Body, F, U> Unpin for CollectBytes<B, F, U> {}

impl<B: Body, F, U> fmt::Debug for CollectBytes<B, F, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CollectBytes").finish_non_exhaustive()
    }
}
