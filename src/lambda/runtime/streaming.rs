//! An answer that comes piece by piece, and ends in a report where it fails.

use std::convert::Infallible;
use std::panic::{self, AssertUnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_core::Stream;
use http::header::{HeaderMap, HeaderValue};
use http_body::{Body, Frame};

use super::ErrorReport;
use super::report::{FUNCTION_ERROR_BODY, FUNCTION_ERROR_TYPE};

/// The body of a streamed answer. Its size is not known, so that HTTP/1.1 sends it in chunks, and
/// has room for trailers behind them.
pub(super) struct Streaming<S> {
    prelude: Option<Bytes>,
    /// None when it has ended, however it did.
    stream: Option<Pin<Box<S>>>,
}

impl<S> Streaming<S> {
    /// `prelude`, and what the stream yields.
    pub(super) fn new(prelude: Option<Bytes>, stream: S) -> Self {
        Self { prelude, stream: Some(Box::pin(stream)) }
    }
}

impl<S, E> Body for Streaming<S>
where
    S: Stream<Item = Result<Bytes, E>>,
    E: Into<ErrorReport>,
{
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(prelude) = self.prelude.take() {
            return Poll::Ready(Some(Ok(Frame::data(prelude))));
        }
        let Some(stream) = &mut self.stream else { return Poll::Ready(None) };
        // Unwinding from here would close the connection with the answer half sent. What is left
        // of the stream is dropped, and not asked again.
        let polled = panic::catch_unwind(AssertUnwindSafe(|| stream.as_mut().poll_next(cx)));
        let report = match polled {
            Ok(polled) => match ready!(polled) {
                Some(Ok(data)) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Some(Err(error)) => Some(error.into()),
                None => None,
            },
            Err(payload) => Some(ErrorReport::from_panic(&*payload)),
        };
        self.stream = None;
        Poll::Ready(report.map(|report| Ok(Frame::trailers(trailers(&report)))))
    }
}

/// What ends an answer that has failed.
fn trailers(report: &ErrorReport) -> HeaderMap {
    let body = HeaderValue::try_from(STANDARD.encode(report.to_json()));
    let body = body.ok().map(|body| (FUNCTION_ERROR_BODY, body));
    [(FUNCTION_ERROR_TYPE, report.header_type())].into_iter().chain(body).collect()
}
