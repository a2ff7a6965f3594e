//! How far a connection has come with a request, as the body of the request sees it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;

/// The payload of a request, which notes what it is asked.
///
/// A request waits in the queue of a connection until that takes it up, and what a failing
/// connection finds in the queue it gives back unseen. The errors of hyper do not promise to
/// tell the one from the other; the body can. The head of a message says how its body is
/// framed (RFC 9112, section 6; `END_STREAM` in RFC 9113, section 8.1), so no byte of the
/// head can be written before the body was asked for its length or its end.
#[derive(Debug)]
pub(super) struct Outgoing {
    payload: Full<Bytes>,
    progress: Arc<Progress>,
}

impl Outgoing {
    pub(super) fn new(payload: Full<Bytes>) -> (Self, Arc<Progress>) {
        let progress = Arc::new(Progress::default());
        (Self { payload, progress: Arc::clone(&progress) }, progress)
    }
}

impl Body for Outgoing {
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

/// What the body of a request has been asked so far. It only ever grows.
#[derive(Debug, Default)]
pub(super) struct Progress {
    begun: AtomicBool,
    streamed: AtomicBool,
}

impl Progress {
    /// Whether a connection has taken the request up, so that some of it may be written.
    pub(super) fn begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    /// Whether the payload was asked for, which comes after the head was handed on. An empty
    /// one never is.
    pub(super) fn streamed(&self) -> bool {
        self.streamed.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_not_told_in_secret() {
        let (body, progress) = Outgoing::new(Full::from("hello"));
        assert!(!progress.begun());
        assert_eq!(body.size_hint().exact(), Some(5));
        assert!(progress.begun() && !progress.streamed());
    }

    #[test]
    fn an_end_is_not_told_in_secret() {
        let (body, progress) = Outgoing::new(Full::default());
        assert!(body.is_end_stream());
        assert!(progress.begun() && !progress.streamed());
    }
}
