//! A body that knows how far it was read.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum_core::Error;
use axum_core::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// The body of a request, while it is read.
#[derive(Default)]
pub(crate) struct Tracked {
    pub(crate) body: Body,
    /// The body has been polled.
    pub(crate) is_started: bool,
    /// The body has ended, failed or panicked, and must not be polled again.
    pub(crate) has_ended: bool,
}

impl http_body::Body for Tracked {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        // Stays like this if the body panics.
        (self.is_started, self.has_ended) = (true, true);
        let next = Pin::new(&mut self.body).poll_frame(cx);
        self.has_ended = matches!(next, Poll::Ready(None | Some(Err(_))));
        next
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
