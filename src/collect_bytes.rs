//! The future behind `collect.await`.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Body;

use crate::collector::Collector;
use crate::options::Options;
use crate::{CollectError, Progress};

/// A future that reads a body as [`Bytes`]. Awaiting a [`Collect`](crate::Collect) makes it.
///
/// # Cancel safety
///
/// Dropping the future drops the body and frees what was reserved.
#[must_use = "futures do nothing unless polled"]
pub struct CollectBytes<B: Body, F> {
    // A pinned field needs either unsafe code or one more dependency.
    body: Pin<Box<B>>,
    collector: Collector<B::Data>,
    on_progress: F,
}

impl<B: Body, F> CollectBytes<B, F> {
    pub(crate) fn new(body: B, options: Options, on_progress: F) -> Self {
        Self { body: Box::pin(body), collector: Collector::new(options), on_progress }
    }
}

impl<B: Body, F: FnMut(Progress)> Future for CollectBytes<B, F> {
    type Output = Result<Bytes, CollectError<B::Error>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { body, collector, on_progress } = &mut *self;
        collector
            .poll(body.as_mut(), cx, on_progress)
            .map_ok(|finished| finished.content.into_bytes())
    }
}

// `B` is pinned in a box, and the other fields are never pinned.
impl<B: Body, F> Unpin for CollectBytes<B, F> {}

impl<B: Body, F> fmt::Debug for CollectBytes<B, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CollectBytes").finish_non_exhaustive()
    }
}
