//! The request body of a streamed response.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_core::Stream;
use http::header::{HeaderMap, HeaderValue};
use http_body::{Body, Frame};

use super::ErrorReport;
use super::panics::catch;
use super::wire::{FUNCTION_ERROR_BODY, FUNCTION_ERROR_TYPE, TRAILERS_MAX};

/// The body of a streamed response.
///
/// Its length is unknown, so that HTTP/1.1 sends it in chunks and can send trailers.
pub(super) struct Streaming<S> {
    prelude: Option<Bytes>,
    /// `None` after the end, an error or a panic.
    stream: Option<Pin<Box<S>>>,
}

impl<S> Streaming<S> {
    /// Creates a body of `prelude` and the chunks of `stream`.
    pub(super) fn new(prelude: Option<Bytes>, stream: S) -> Self {
        Self { prelude, stream: Some(Box::pin(stream)) }
    }

    /// Drops the stream, which may panic.
    fn end(&mut self) -> Result<(), ErrorReport> {
        let stream = self.stream.take();
        catch(|| drop(stream))
    }
}

impl<S> Drop for Streaming<S> {
    fn drop(&mut self) {
        // The request has ended, so the panic cannot be reported.
        let _ = self.end();
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
        // A panic must not close the connection in the middle of the response. The stream is
        // dropped after one, and not polled again.
        let polled = catch(|| {
            let polled = stream.as_mut().poll_next(cx);
            polled.map(|chunk| chunk.map(|chunk| chunk.map_err(Into::into)))
        });
        let failure = match polled {
            Ok(polled) => match ready!(polled) {
                Some(Ok(data)) if data.is_empty() => {
                    // hyper writes nothing for an empty chunk and polls again at once. A stream of
                    // empty chunks would never let other tasks run.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Some(Ok(data)) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Some(Err(report)) => Some(report),
                None => None,
            },
            Err(panic) => Some(panic),
        };
        let dropped = self.end();
        let failure = failure.or(dropped.err());
        Poll::Ready(failure.map(|report| Ok(Frame::trailers(trailers(&report)))))
    }
}

/// Returns the trailers of a response that failed.
fn trailers(report: &ErrorReport) -> HeaderMap {
    let body = HeaderValue::try_from(STANDARD.encode(report.to_json_within(REPORT_MAX)));
    let body = body.ok().map(|body| (FUNCTION_ERROR_BODY, body));
    [(FUNCTION_ERROR_TYPE, report.header_type())].into_iter().chain(body).collect()
}

/// The maximum length of a report in the trailers, before base64 adds a third.
///
/// The names of both trailers, the type and the line ends take up to 215 bytes.
const REPORT_MAX: usize = (TRAILERS_MAX - 256) / 4 * 3;
