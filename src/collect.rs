//! Reading one body: the options and the forms the result can have.
//!
//! The loop is in `collector.rs`.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;

use bytes::{Buf, Bytes};
use http::header::TRAILER;
use http::{Method, response};
use http_body::Body;

#[cfg(feature = "json")]
use crate::JsonError;
use crate::collector::{Collector, Finished};
use crate::content::Content;
use crate::content_length::has_no_content;
use crate::options::{Options, Reuse, Target};
use crate::reserve::{Bounds, EAGER_DEFAULT, eager_bound};
use crate::{
    BufferPool, CollectError, CollectStats, Collected, ContentLength, LengthHistory, MemoryBudget,
    Mismatch, Partial, Prefix, Presized, Progress,
};

/// Reads a body into one contiguous buffer.
///
/// `content_length` is the declared length in bytes, if there is one and it is known
/// to count what the body delivers. `limit` is the most bytes that are taken,
/// inclusive. This is the short form of [`Collect`]; where the head of the response is
/// at hand, [`ResponseExt`](crate::ResponseExt) reads the length from it.
///
/// # Errors
///
/// A [`CollectError`], with the numbers and with what had arrived.
///
/// # Cancel safety
///
/// Dropping the future drops the body and frees what was reserved.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use http_body_util::Full;
/// use presized::collect_presized;
///
/// let body = Full::<bytes::Bytes>::from("hello");
/// let content = collect_presized(body, Some(5), 1024).await?;
/// assert_eq!(content, "hello");
/// # Ok(())
/// # }
/// ```
pub async fn collect_presized<B: Body>(
    body: B,
    content_length: Option<u64>,
    limit: u64,
) -> Result<Bytes, CollectError<B::Error>> {
    Collect::new(body, limit).content_length(content_length).bytes().await
}

/// How to read one body, and the forms to read it into.
///
/// Nothing happens until one of the forms is awaited: [`bytes`](Self::bytes),
/// [`vec`](Self::vec), [`string`](Self::string), [`collected`](Self::collected),
/// [`into_buf`](Self::into_buf), [`prefix`](Self::prefix), or
/// [`presized`](Self::presized), which is a body again. All of them run the same loop. The
/// feature `json` adds one.
///
/// # Errors
///
/// The same for every form: a [`CollectError`], with the numbers and with what had
/// arrived. A declared length above the limit is refused before the body is polled, except by
/// [`prefix`](Self::prefix), which stops at the limit instead.
///
/// # Cancel safety
///
/// Dropping the future drops the body at once and frees what was reserved;
/// [`into_buf`](Self::into_buf) gives the caller's buffer back. There is no timeout in it:
/// wrap the future in that of your runtime.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use http_body_util::Full;
/// use presized::{Collect, Mismatch};
///
/// let collected = Collect::new(Full::<bytes::Bytes>::from("hello"), 1024)
///     .mismatch(Mismatch::Reject)
///     .collected()
///     .await?;
/// assert_eq!(collected.content, "hello");
/// assert_eq!(collected.stats.received, 5);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is read until one of the forms is awaited"]
pub struct Collect<B, F = fn(Progress)> {
    body: B,
    options: Options,
    on_progress: F,
}

impl<B: Body> Collect<B> {
    /// Reads `body`, and at most `limit` bytes of it.
    ///
    /// The limit is inclusive and counts bytes of content as the body delivers them:
    /// decoded ones, where a layer below decodes. 0 takes empty bodies only.
    pub fn new(body: B, limit: u64) -> Self {
        Self {
            body,
            options: Options {
                bounds: Bounds {
                    limit,
                    eager: eager_bound(EAGER_DEFAULT),
                    addressable: isize::MAX as u64,
                },
                content_length: ContentLength::Unknown,
                no_content: false,
                mismatch: Mismatch::default(),
                trailers_announced: false,
                checked_at_end: false,
                target: Target::Bytes,
                prefix: false,
                reuse: Reuse::default(),
            },
            on_progress: |_| {},
        }
    }
}

impl<B: Body> Collect<B> {
    /// Reads the body of a response to a `method` request, by what its head says: the length,
    /// as [`ContentLength::of`] reads it, and whether trailers are announced. Where a response has
    /// no content by method and status, the size hint of the body does not outrank that.
    pub fn of(method: &Method, head: &response::Parts, body: B, limit: u64) -> Self {
        let mut collect = Self::new(body, limit)
            .content_length(ContentLength::of(method, head))
            .trailers_announced(head.headers.contains_key(TRAILER));
        collect.options.no_content = has_no_content(method, head);
        collect
    }
}

impl<B: Body, F: FnMut(Progress)> Collect<B, F> {
    /// The declared length. An exact [size hint](Body::size_hint) of the body outranks
    /// it. Without one, and without a size hint, the length is unknown.
    pub fn content_length(mut self, content_length: impl Into<ContentLength>) -> Self {
        self.options.content_length = content_length.into();
        self.options.no_content = false;
        self
    }

    /// Most bytes of memory that are reserved on the word of the peer, before received
    /// bytes earn more. The default is 16 MiB.
    ///
    /// A longer body gets its memory as it comes in: its buffer is at no time larger than the
    /// limit, nor than the greater of this and four times the bytes received. While it is
    /// copied to a larger one both exist; [`CollectStats::peak`] counts them.
    pub fn eager(mut self, bytes: usize) -> Self {
        self.options.bounds.eager = eager_bound(bytes);
        self
    }

    /// What it means when the declared length turns out to be wrong.
    pub fn mismatch(mut self, mismatch: Mismatch) -> Self {
        self.options.mismatch = mismatch;
        self
    }

    /// Whether the head announced trailers (RFC 9110 §6.6.2).
    ///
    /// A transport error after the last declared byte does not undo the content, unless
    /// trailers are still to come: they can hold what validates it. A body that checks what it has
    /// yielded, and fails after the last byte where that is wrong, is to be read as one that
    /// announces trailers.
    pub fn trailers_announced(mut self, announced: bool) -> Self {
        self.options.trailers_announced = announced;
        self
    }

    /// Takes the memory of the result from `pool`. It goes back when the last clone of the
    /// [`Bytes`] is dropped. [`vec`](Self::vec), [`string`](Self::string) and
    /// [`into_buf`](Self::into_buf) take nothing from it.
    pub fn pool(mut self, pool: &BufferPool) -> Self {
        self.options.reuse.pool = Some(pool.clone());
        self
    }

    /// Reads within a bound that is shared with other bodies: waits for its share, or fails
    /// under [`fail_fast`](MemoryBudget::fail_fast).
    ///
    /// # Errors
    ///
    /// The read ends in [`CollectError::Budget`] at once if the limit is above the budget.
    pub fn budget(mut self, budget: &MemoryBudget) -> Self {
        self.options.reuse.budget = Some(budget.clone());
        self
    }

    /// Expects what bodies like this one measured lately, if it declares no length, and
    /// notes what it measures.
    pub fn history(mut self, history: &LengthHistory) -> Self {
        self.options.reuse.history = Some(history.clone());
        self
    }

    /// Calls `on_progress` after every frame with content, except one that ends the reading at
    /// the limit.
    pub fn on_progress<G: FnMut(Progress)>(self, on_progress: G) -> Collect<B, G> {
        Collect { body: self.body, options: self.options, on_progress }
    }

    /// The content as [`Bytes`].
    ///
    /// A body that is one large frame is handed over as it came, without a copy.
    ///
    /// # Errors
    ///
    /// See [`Collect`].
    pub async fn bytes(self) -> Result<Bytes, CollectError<B::Error>> {
        Ok(self.read(Target::Bytes).await?.content.into_bytes())
    }

    /// The content as a `Vec`, with no more than a quarter of its length unused.
    ///
    /// # Errors
    ///
    /// See [`Collect`].
    pub async fn vec(self) -> Result<Vec<u8>, CollectError<B::Error>> {
        Ok(self.read(Target::Vec).await?.content.into_vec())
    }

    /// The content as a `String`: validated once, and not copied for it.
    ///
    /// # Errors
    ///
    /// See [`Collect`]; and [`CollectError::InvalidUtf8`], with the content.
    pub async fn string(self) -> Result<String, CollectError<B::Error>> {
        String::from_utf8(self.vec().await?).map_err(|error| CollectError::InvalidUtf8 {
            valid_up_to: error.utf8_error().valid_up_to() as u64,
            partial: Partial::from_vec(error.into_bytes()),
        })
    }

    /// The content as a value that serde reads from JSON. `T` keeps nothing of the content, whose
    /// memory is back in its pool by then. The Content-Type is not looked at.
    ///
    /// The limit is that of the content. What `T` takes beside it is the business of `T`, and a value
    /// of another type than `T` has is quoted in serde's error, with what is not printable escaped:
    /// a string of that kind takes up to six times its length.
    ///
    /// # Errors
    ///
    /// See [`Collect`]; and [`CollectError::InvalidJson`], which quotes nothing of the content and has
    /// it.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use http_body_util::Full;
    /// use presized::{Collect, CollectError};
    ///
    /// let body = || Full::<bytes::Bytes>::from("[1,2,3]");
    /// assert_eq!(Collect::new(body(), 1024).json::<Vec<u8>>().await?, [1, 2, 3]);
    ///
    /// let error = Collect::new(body(), 1024).json::<String>().await.unwrap_err();
    /// assert!(matches!(error, CollectError::InvalidJson { .. }));
    /// assert_eq!(error.into_partial(), "[1,2,3]");
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "json")]
    #[cfg_attr(docsrs, doc(cfg(feature = "json")))]
    pub async fn json<T: serde::de::DeserializeOwned>(self) -> Result<T, CollectError<B::Error>> {
        let content = self.bytes().await?;
        serde_json::from_slice(&content).map_err(|source| CollectError::InvalidJson {
            source: JsonError::new(source),
            partial: Partial::from_bytes(content),
        })
    }

    /// The content, the trailers, and how the reading went.
    ///
    /// # Errors
    ///
    /// See [`Collect`].
    pub async fn collected(self) -> Result<Collected, CollectError<B::Error>> {
        self.read(Target::Bytes).await.map(Collected::from)
    }

    /// Appends the content to `buffer`, which takes no allocation where its spare
    /// capacity is enough. That capacity is in no budget.
    ///
    /// # Errors
    ///
    /// See [`Collect`]. What had arrived is in `buffer` then, and not in the error; of a body
    /// of unknown length as much as there is memory for.
    ///
    /// # Cancel safety
    ///
    /// What was in `buffer` stays in it, followed by what had arrived and been given memory.
    /// Only a future that is leaked leaves it empty.
    pub async fn into_buf(
        self,
        buffer: &mut Vec<u8>,
    ) -> Result<CollectStats, CollectError<B::Error>> {
        let Self { body, mut options, mut on_progress } = self;
        options.target = Target::Lent;
        let mut body = pin!(body);
        let mut lent = Lent::new(options, buffer);
        let finished =
            poll_fn(|cx| lent.collector.poll(body.as_mut(), cx, &mut on_progress)).await?;
        lent.collector.put_content(finished.content);
        Ok(finished.stats)
    }

    /// The first bytes of the content, up to the limit, and whether there was more: for
    /// the body of an error response, which is wanted in a log and not in full.
    ///
    /// The limit is where reading stops and never an error. The rest is not read.
    ///
    /// # Errors
    ///
    /// Those of [`Collect`], except [`DeclaredTooLarge`](CollectError::DeclaredTooLarge) and
    /// [`TooLarge`](CollectError::TooLarge).
    pub async fn prefix(mut self) -> Result<Prefix, CollectError<B::Error>> {
        self.options.prefix = true;
        let finished = self.read(Target::Bytes).await?;
        Ok(Prefix { truncated: finished.truncated, content: finished.content.into_bytes() })
    }

    /// A body that yields the whole content as one data frame.
    pub fn presized(self) -> Presized<B, F> {
        let Self { body, options, on_progress } = self;
        Presized::with(body, options, on_progress)
    }

    /// An error of the body undoes content that is complete.
    #[cfg(any(feature = "aws-sdk", feature = "tower"))]
    pub(crate) fn checked_at_end(mut self) -> Self {
        self.options.checked_at_end = true;
        self
    }

    pub(crate) fn reuse(mut self, reuse: Reuse) -> Self {
        self.options.reuse = reuse;
        self
    }

    async fn read(self, target: Target) -> Result<Finished, CollectError<B::Error>> {
        let Self { body, mut options, mut on_progress } = self;
        options.target = target;
        let mut body = pin!(body);
        let mut collector = Collector::new(options);
        poll_fn(|cx| collector.poll(body.as_mut(), cx, &mut on_progress)).await
    }
}

impl<B: fmt::Debug, F> fmt::Debug for Collect<B, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collect")
            .field("body", &self.body)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// The caller's buffer while it is being filled. It goes back with what has arrived,
/// however the reading ends.
struct Lent<'a, D: Buf> {
    buffer: &'a mut Vec<u8>,
    collector: Collector<D>,
}

impl<'a, D: Buf> Lent<'a, D> {
    fn new(options: Options, buffer: &'a mut Vec<u8>) -> Self {
        let content = Content::behind(std::mem::take(buffer));
        Self { buffer, collector: Collector::with(options, content) }
    }
}

impl<D: Buf> Drop for Lent<'_, D> {
    fn drop(&mut self) {
        *self.buffer = self.collector.take_content().into_joined();
    }
}
