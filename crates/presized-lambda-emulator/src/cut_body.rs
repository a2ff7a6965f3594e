//! The body of a response whose connection is cut.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};

use crate::connection::ConnectionEnd;
use crate::response_body::ResponseBody;

/// A body that fails after a number of bytes, or else ends the connection after its end.
pub(crate) struct CutBody {
    body: ResponseBody,
    left: u64,
    connection: Option<Arc<ConnectionEnd>>,
    /// Waits until the bytes before the cut are sent.
    flushed: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl CutBody {
    /// `connection` is what ends, unless only a stream of HTTP/2 does.
    pub(crate) fn new(
        body: ResponseBody,
        after: u64,
        connection: Option<Arc<ConnectionEnd>>,
    ) -> Self {
        Self { body, left: after, connection, flushed: None }
    }
}

impl Body for CutBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = &mut *self;
        if let Some(flushed) = &mut this.flushed {
            ready!(flushed.as_mut().poll(cx));
            return Poll::Ready(Some(Err(io::Error::other("cut by a fault"))));
        }
        let frame = match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
            Some(Ok(frame)) => frame,
            other => return Poll::Ready(other),
        };
        let Ok(mut data) = frame.into_data() else { return Poll::Ready(None) };
        let kept = this.left.min(data.remaining() as u64);
        this.left -= kept;
        if kept < data.remaining() as u64 {
            data.truncate(usize::try_from(kept).unwrap_or(usize::MAX));
            let connection = this.connection.clone();
            this.flushed = Some(Box::pin(async move {
                if let Some(connection) = connection {
                    connection.flushed().await;
                }
            }));
            if data.is_empty() {
                return self.poll_frame(cx);
            }
        }
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.flushed.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for CutBody {
    fn drop(&mut self) {
        if let Some(connection) = &self.connection {
            connection.close();
        }
    }
}
