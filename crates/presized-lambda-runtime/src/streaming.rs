//! An answer that comes piece by piece, and ends in a report where it fails.

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
use super::wire::{FUNCTION_ERROR_BODY, FUNCTION_ERROR_TYPE};

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

    /// Drops the stream, which can panic as it could when it was asked.
    fn end(&mut self) -> Result<(), ErrorReport> {
        let stream = self.stream.take();
        catch(|| drop(stream))
    }
}

impl<S> Drop for Streaming<S> {
    fn drop(&mut self) {
        // There is nobody left to be told.
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
        // Unwinding from here would close the connection with the answer half sent. What is left
        // of the stream is dropped, and not asked again.
        let polled = catch(|| {
            let polled = stream.as_mut().poll_next(cx);
            polled.map(|piece| piece.map(|piece| piece.map_err(Into::into)))
        });
        let failure = match polled {
            Ok(polled) => match ready!(polled) {
                Some(Ok(data)) if data.is_empty() => {
                    // There is nothing to write that could make the connection wait, and hyper
                    // asks again at once: without end, if all pieces are like this.
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

/// What ends an answer that has failed.
fn trailers(report: &ErrorReport) -> HeaderMap {
    let body = HeaderValue::try_from(STANDARD.encode(report.to_json_within(BODY_LEN)));
    let body = body.ok().map(|body| (FUNCTION_ERROR_BODY, body));
    [(FUNCTION_ERROR_TYPE, report.header_type())].into_iter().chain(body).collect()
}

/// What a report in a trailer can have, before it is base64. Lambda's side of the Runtime API is
/// written in Go, whose server takes 4,096 bytes of trailers and the empty line behind them, and
/// takes an answer with more for one that broke off. The names and the type need up to 215.
const BODY_LEN: usize = 2_880;
