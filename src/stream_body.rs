//! A stream as a body, for [`Collect::from_stream`].

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use futures_core::Stream;
use http_body::{Body, Frame};

use crate::{Collect, Reader};

/// A body whose data frames are the items of a stream. [`Collect::from_stream`] makes it.
///
/// Each item is data. The items of the type of this name in http-body-util are frames. It has no
/// trailers and no size hint, because the size hint of a stream counts items and not bytes.
#[must_use = "bodies do nothing unless polled"]
pub struct StreamBody<S> {
    // Boxed, because a pinned field needs either unsafe code or one more dependency, and a bound
    // would exclude streams that are not `Unpin`.
    stream: Pin<Box<S>>,
}

impl<S, D, E> Collect<StreamBody<S>>
where
    S: Stream<Item = Result<D, E>>,
    D: Buf,
{
    /// Reads the items of `stream`, one after the other. `reader` is the limit in bytes, inclusive,
    /// or a [`Reader`].
    ///
    /// Use it for a source that is no [`Body`] of http-body 1, such as an object store or a server
    /// of another generation. The stream cannot tell its length in bytes. Set it with
    /// [`content_length`](Self::content_length), so that one buffer of this length is reserved, a
    /// length over the limit is refused, and a stream that ends early is an error.
    ///
    /// | source | what to call |
    /// | --- | --- |
    /// | [object_store](https://docs.rs/object_store), a `GetResult` | `let length = result.range.end - result.range.start;`<br>`Collect::from_stream(result.into_stream(), limit).content_length(length)` |
    /// | [actix-web](https://docs.rs/actix-web) 4, a `web::Payload` | `let length = request.headers().get("content-length").and_then(\|length\| length.to_str().ok()?.parse::<u64>().ok());`<br>`Collect::from_stream(payload, limit).content_length(length)` |
    /// | hyper 0.14 with its feature `stream`, a `hyper::Body` | `let length = hyper::body::HttpBody::size_hint(&body).exact();`<br>`Collect::from_stream(body, limit).content_length(length)` |
    ///
    /// # Errors
    ///
    /// See [`Collect`]. An error of the stream is
    /// [`CollectError::Body`](crate::CollectError::Body).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::io;
    ///
    /// use bytes::Bytes;
    /// use futures_util::stream;
    /// use presized::Collect;
    ///
    /// let items = ["hel", "lo"].map(|item| Ok::<_, io::Error>(Bytes::from(item)));
    /// let content = Collect::from_stream(stream::iter(items), 1024).content_length(5).await?;
    /// assert_eq!(content, "hello");
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_stream(stream: S, reader: impl Into<Reader>) -> Self {
        Self::new(StreamBody { stream: Box::pin(stream) }, reader)
    }
}

impl<S, D, E> Body for StreamBody<S>
where
    S: Stream<Item = Result<D, E>>,
    D: Buf,
{
    type Data = D;
    type Error = E;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<D>, E>>> {
        let item = ready!(self.stream.as_mut().poll_next(cx));
        Poll::Ready(item.map(|item| item.map(Frame::data)))
    }
}

impl<S> fmt::Debug for StreamBody<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamBody").finish_non_exhaustive()
    }
}
