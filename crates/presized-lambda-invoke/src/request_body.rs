//! The body of a request, which observes how far the connection has come with it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;

/// The payload of a request, which records the calls of the connection.
///
/// A request waits in the queue of its connection. If the connection fails before it takes the
/// request, nothing was sent. The errors of hyper do not promise to tell that case, but the body
/// can: the head says how the body is framed (RFC 9112, section 6; `END_STREAM` in RFC 9113,
/// section 8.1), so the connection asks the body for its length or its end before it writes a
/// byte.
#[derive(Debug)]
pub(super) struct RequestBody {
    payload: Full<Bytes>,
    progress: Arc<Progress>,
}

impl RequestBody {
    pub(super) fn new(payload: Full<Bytes>) -> (Self, Arc<Progress>) {
        let progress = Arc::new(Progress::default());
        (Self { payload, progress: Arc::clone(&progress) }, progress)
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.progress.streamed.store(true, Ordering::Release);
        Pin::new(&mut self.payload).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.progress.begun.store(true, Ordering::Release);
        self.payload.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.progress.begun.store(true, Ordering::Release);
        self.payload.size_hint()
    }
}

/// The calls that a request body has received. Each flag is set once and never reset.
#[derive(Debug, Default)]
pub(super) struct Progress {
    begun: AtomicBool,
    streamed: AtomicBool,
}

impl Progress {
    /// Returns whether a connection has taken the request, so that a part of it may be written.
    pub(super) fn begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    /// Returns whether the connection has polled the payload, which happens after the head. It never
    /// polls an empty payload.
    pub(super) fn streamed(&self) -> bool {
        self.streamed.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_for_the_length_is_recorded() {
        let (body, progress) = RequestBody::new(Full::from("hello"));
        assert!(!progress.begun());
        assert_eq!(body.size_hint().exact(), Some(5));
        assert!(progress.begun() && !progress.streamed());
    }

    #[test]
    fn asking_for_the_end_is_recorded() {
        let (body, progress) = RequestBody::new(Full::default());
        assert!(body.is_end_stream());
        assert!(progress.begun() && !progress.streamed());
    }
}
