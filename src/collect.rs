//! [`Collect`]: one body and what is declared about it.

mod forms;

use std::fmt;
use std::future::{Pending, pending};
use std::ops::ControlFlow;

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
/// feature `json` adds `json`, and the feature `stream` adds `from_stream`, which reads a stream.
/// Awaiting the `Collect` itself gives [`Bytes`](bytes::Bytes).
/// [`into_presized`](Self::into_presized) and [`into_limited`](Self::into_limited) make a body of
/// it again. All of them except `into_limited` run the same loop.
///
/// One poll of a form takes at most 256 frames, and no further frame after 1 MiB. Then it yields to
/// other tasks, so that a timeout can fire while the body is always ready.
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
/// [`append_to`](Self::append_to) gives the buffer back to the caller. There is no timeout by
/// default: set a deadline with [`until`](Self::until), and a minimum rate with
/// [`Reader::min_rate`].
///
/// # Other tasks
///
/// A body can be always ready, for example if it is in memory. One poll therefore takes at most 256
/// frames, and no further frame once frames × 4 KiB + bytes reaches 1 MiB. The read then wakes its
/// task and yields, so that other tasks and timeouts run. A large body in memory thus takes
/// more than one poll.
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
pub struct Collect<B, F = fn(Progress) -> ControlFlow<()>, U = Pending<()>> {
    body: B,
    reader: Reader,
    declared: Declared,
    on_progress: F,
    until: U,
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
        let on_progress = |_| ControlFlow::Continue(());
        Self { body, reader: reader.into(), declared, on_progress, until: pending() }
    }
}

impl<B: Body, F: FnMut(Progress) -> ControlFlow<()>, U: Future> Collect<B, F, U> {
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

    /// Calls `on_progress` after every frame with content, also after the last. It is not called
    /// for a frame at which a prefix stops or the read fails.
    ///
    /// If it returns [`ControlFlow::Break`], the read fails with
    /// [`CollectError::Stopped`](crate::CollectError::Stopped), and the error has the bytes that
    /// had arrived. A second call of this method replaces the first.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use std::ops::ControlFlow;
    ///
    /// use http_body_util::Full;
    /// use presized::{Collect, CollectError};
    ///
    /// let body = Full::<bytes::Bytes>::from("hello");
    /// let read = Collect::new(body, 1024).on_progress(|progress| {
    ///     println!("{} bytes received", progress.received);
    ///     match progress.received {
    ///         0..=3 => ControlFlow::Continue(()),
    ///         _ => ControlFlow::Break(()),
    ///     }
    /// });
    /// let error = read.bytes().await.unwrap_err();
    /// assert!(matches!(error, CollectError::Stopped { received: 5, .. }));
    /// assert_eq!(error.into_partial(), "hello");
    /// # }
    /// ```
    pub fn on_progress<G>(self, on_progress: G) -> Collect<B, G, U>
    where
        G: FnMut(Progress) -> ControlFlow<()>,
    {
        let Self { body, reader, declared, until, .. } = self;
        Collect { body, reader, declared, on_progress, until }
    }

    /// Stops the read when `until` is ready, for example a deadline or a shutdown. Its output is
    /// ignored.
    ///
    /// The read then fails with [`CollectError::Stopped`](crate::CollectError::Stopped), and the
    /// error has the bytes that had arrived. A timeout around the read would drop them. `until`
    /// also stops a read that waits for a share of a [`MemoryBudget`](crate::MemoryBudget).
    ///
    /// The body goes first: if one poll finds `until` ready and takes the rest of the body, the read
    /// succeeds. `until` is polled in every poll of the read that does not finish it. A body that is
    /// always ready is stopped when the read yields ([`Collect`] says when).
    ///
    /// A second call of this method replaces the first.
    ///
    /// `until` is dropped with the read. It is not used by [`into_limited`](Self::into_limited).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// use std::time::Duration;
    ///
    /// use http_body_util::BodyExt;
    /// use presized::{Collect, CollectError};
    /// # use bytes::Bytes;
    /// # use http_body::Frame;
    /// # let stalls = futures_util::stream::once(async {
    /// #     Ok::<_, std::io::Error>(Frame::data(Bytes::from("hello")))
    /// # });
    /// # let never = futures_util::stream::pending();
    /// # let stalls = futures_util::StreamExt::chain(stalls, never);
    /// # let body = http_body_util::StreamBody::new(stalls);
    ///
    /// let deadline = tokio::time::sleep(Duration::from_secs(30));
    /// let error = Collect::new(body, 1024).until(deadline).await.unwrap_err();
    /// assert!(matches!(error, CollectError::Stopped { received: 5, .. }));
    /// assert_eq!(error.into_partial(), "hello");
    /// # }
    /// ```
    pub fn until<V: Future>(self, until: V) -> Collect<B, F, V> {
        let Self { body, reader, declared, on_progress, .. } = self;
        Collect { body, reader, declared, on_progress, until }
    }

    fn into_parts(self, target: Target) -> (B, Options, F, U) {
        let Self { body, reader, declared, on_progress, until } = self;
        (body, Options { reader, declared, target, prefix: false }, on_progress, until)
    }
}

impl<B: fmt::Debug, F, U> fmt::Debug for Collect<B, F, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collect")
            .field("body", &self.body)
            .field("reader", &self.reader)
            .field("declared", &self.declared)
            .finish_non_exhaustive()
    }
}
