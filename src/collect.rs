//! [`Collect`]: one body and what is declared about it.

mod forms;

use std::fmt;

use http::{Method, request, response};
use http_body::Body;

use crate::declared::Declared;
use crate::options::{Options, Target};
use crate::{ContentLength, Progress, Reader};

/// One body to read, and the forms that the result can have.
///
/// A [`Reader`] says how the body is read. Nothing happens until a form is awaited:
/// [`bytes`](Self::bytes), [`vec`](Self::vec), [`text`](Self::text),
/// [`collected`](Self::collected), [`append_to`](Self::append_to) or [`prefix`](Self::prefix). The
/// feature `json` adds `json`. Awaiting the `Collect` itself gives [`Bytes`](bytes::Bytes).
/// [`into_presized`](Self::into_presized) and [`into_limited`](Self::into_limited) make a body of
/// it again. All of them except `into_limited` run the same loop.
///
/// # Errors
///
/// Every form fails with a [`CollectError`](crate::CollectError), which has the numbers and the
/// bytes that had arrived. A declared length above the limit is refused before the body is polled,
/// except by [`prefix`](Self::prefix), which stops at the limit instead.
///
/// # Cancel safety
///
/// Dropping the future drops the body at once and frees what was reserved.
/// [`append_to`](Self::append_to) gives the buffer back to the caller. There is no timeout: wrap
/// the future in a timeout of your runtime.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use http_body_util::Full;
/// use presized::{Collect, Mismatch, Reader};
///
/// let reader = Reader::new(1024).mismatch(Mismatch::Reject);
/// let body = Full::<bytes::Bytes>::from("hello");
/// let collected = Collect::new(body, reader).collected().await?;
/// assert_eq!(collected.content, "hello");
/// assert_eq!(collected.stats.received, 5);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is read until one of the forms is awaited"]
pub struct Collect<B, F = fn(Progress)> {
    body: B,
    reader: Reader,
    declared: Declared,
    on_progress: F,
}

impl<B: Body> Collect<B> {
    /// Reads `body`. `reader` is the limit in bytes, inclusive, or a [`Reader`].
    ///
    /// Only the size hint of the body tells its length, unless
    /// [`content_length`](Self::content_length) is set.
    pub fn new(body: B, reader: impl Into<Reader>) -> Self {
        Self::declared(body, reader, Declared::default())
    }

    /// Reads `body`, the body of a response to a `method` request.
    ///
    /// The head of the response tells the length, as [`ContentLength::of_response`] reads it, and
    /// whether trailers are announced. If the method and status mean that there is no
    /// content, as for HEAD or 204, the result is empty, whatever the size hint says.
    pub fn of_response(
        method: &Method,
        head: &response::Parts,
        body: B,
        reader: impl Into<Reader>,
    ) -> Self {
        Self::declared(body, reader, Declared::by_response(method, head))
    }

    /// Reads `body`, the body of a request.
    ///
    /// The head of the request tells the length, as [`ContentLength::from_headers`] reads it, and
    /// whether trailers are announced.
    pub fn of_request(head: &request::Parts, body: B, reader: impl Into<Reader>) -> Self {
        Self::declared(body, reader, Declared::by_request(head))
    }

    fn declared(body: B, reader: impl Into<Reader>, declared: Declared) -> Self {
        Self { body, reader: reader.into(), declared, on_progress: |_| {} }
    }
}

impl<B: Body, F: FnMut(Progress)> Collect<B, F> {
    /// Sets the declared length.
    ///
    /// An exact [size hint](Body::size_hint) of the body outranks it. A response without content by
    /// its method and status stays empty. Without this and without a size hint the length is
    /// unknown.
    pub fn content_length(mut self, content_length: impl Into<ContentLength>) -> Self {
        self.declared.content_length = content_length.into();
        self
    }

    /// Sets whether trailers are announced (RFC 9110 §6.6.2).
    ///
    /// An error of the body after the last declared byte is ignored, because the content is
    /// complete. If trailers are announced and missing, it is not ignored: the trailers may hold a
    /// checksum.
    pub fn trailers_announced(mut self, announced: bool) -> Self {
        self.declared.trailers_announced = announced;
        self
    }

    /// Calls `on_progress` after every frame with content. It is not called for a frame at which a
    /// prefix stops or the read fails.
    pub fn on_progress<G: FnMut(Progress)>(self, on_progress: G) -> Collect<B, G> {
        let Self { body, reader, declared, .. } = self;
        Collect { body, reader, declared, on_progress }
    }

    fn into_parts(self, target: Target) -> (B, Options, F) {
        let Self { body, reader, declared, on_progress } = self;
        (body, Options { reader, declared, target, prefix: false }, on_progress)
    }
}

impl<B: fmt::Debug, F> fmt::Debug for Collect<B, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collect")
            .field("body", &self.body)
            .field("reader", &self.reader)
            .field("declared", &self.declared)
            .finish_non_exhaustive()
    }
}
