//! How bodies are read: the limit, and the memory that they share.

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Body;

use crate::reserve::{Bounds, EAGER_DEFAULT};
use crate::{BufferPool, Collect, CollectError, LengthHistory, MemoryBudget, MinRate, Mismatch};

/// Holds the settings with which bodies are read.
///
/// A reader has a limit and shares a [`BufferPool`], a [`MemoryBudget`] and a [`LengthHistory`]
/// between the bodies that it reads. Build one for each kind of body and keep it; a clone costs
/// up to four reference counts. A number converts into the reader with that limit, so every
/// function of this crate that takes `impl Into<Reader>` accepts a plain limit in bytes.
///
/// # Errors
///
/// Setters never fail. Reading fails with a [`CollectError`].
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use http::{Method, Response};
/// use http_body_util::Full;
/// use presized::{BufferPool, MemoryBudget, Reader};
///
/// let reader = Reader::new(8 << 20) // bytes
///     .pool(&BufferPool::new(64 << 20))
///     .budget(&MemoryBudget::new(256 << 20));
/// let response = Response::new(Full::<bytes::Bytes>::from("hello"));
/// assert_eq!(reader.response(&Method::GET, response).await?, "hello");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a reader does nothing until it is given a body"]
pub struct Reader {
    limit: u64,
    eager: u64,
    mismatch: Mismatch,
    checked_at_end: bool,
    pool: Option<BufferPool>,
    budget: Option<MemoryBudget>,
    history: Option<LengthHistory>,
    min_rate: Option<MinRate>,
}

impl Reader {
    /// Creates a reader that takes at most `limit` bytes of each body, inclusive.
    ///
    /// The limit counts bytes of content, in the form in which the body delivers it. If something
    /// decompresses the body before the reader, the limit counts decompressed bytes. A limit of 0
    /// accepts empty bodies only.
    pub fn new(limit: u64) -> Self {
        Self {
            limit,
            eager: EAGER_DEFAULT,
            mismatch: Mismatch::default(),
            checked_at_end: false,
            pool: None,
            budget: None,
            history: None,
            min_rate: None,
        }
    }

    /// Sets the limit in bytes, inclusive.
    pub fn limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Sets the most bytes that are reserved at the first byte of content because of a declared
    /// length. The default is 16 MiB.
    ///
    /// A longer body gets its memory while it arrives. Its buffer is never larger than the limit.
    /// It is never larger than the greater of this bound and four times the received bytes. While
    /// content moves to a larger buffer, the old and the new buffer exist, and
    /// [`CollectStats::peak`](crate::CollectStats::peak) counts both.
    pub fn eager(mut self, bytes: u64) -> Self {
        self.eager = bytes;
        self
    }

    /// Sets what happens when a declared length is wrong.
    pub fn mismatch(mut self, mismatch: Mismatch) -> Self {
        self.mismatch = mismatch;
        self
    }

    /// Sets whether the read fails if the body gives an error after all declared bytes have
    /// arrived. The default is false.
    ///
    /// By default such an error is ignored, because the content is complete. It is not ignored if
    /// trailers were announced and are missing. Set this for a body that verifies itself at its
    /// end, for example by a checksum.
    pub fn checked_at_end(mut self, checked: bool) -> Self {
        self.checked_at_end = checked;
        self
    }

    /// Takes the buffers of results from `pool`.
    ///
    /// A buffer returns to the pool when the last clone of its [`Bytes`] is dropped. The forms
    /// [`vec`](Collect::vec), [`text`](Collect::text) and [`append_to`](Collect::append_to) do
    /// not use the pool, because their memory belongs to the caller.
    pub fn pool(mut self, pool: &BufferPool) -> Self {
        self.pool = Some(pool.clone());
        self
    }

    /// Reads within a bound on memory that is shared with other bodies.
    ///
    /// If the budget has no room, the body waits. With the handle of
    /// [`fail_fast`](MemoryBudget::fail_fast), it fails instead. A limit above the budget fails at
    /// once with [`CollectError::Budget`].
    pub fn budget(mut self, budget: &MemoryBudget) -> Self {
        self.budget = Some(budget.clone());
        self
    }

    /// Predicts the length of a body that declares none from the lengths of earlier bodies, and
    /// records the real length.
    pub fn history(mut self, history: &LengthHistory) -> Self {
        self.history = Some(history.clone());
        self
    }

    /// Sets the minimum rate at which a body must arrive. A slower body fails with
    /// [`CollectError::TooSlow`]. The default is none.
    ///
    /// It is for peers that keep a connection, and a share of a budget, by sending slowly. For a
    /// deadline of one read, use [`Collect::until`].
    pub fn min_rate(mut self, rate: MinRate) -> Self {
        self.min_rate = Some(rate);
        self
    }

    /// Returns the limit in bytes.
    pub fn get_limit(&self) -> u64 {
        self.limit
    }

    /// Returns how many bytes are reserved at most for a declared length before data arrives.
    pub fn get_eager(&self) -> u64 {
        self.eager
    }

    /// Returns what happens when a declared length is wrong.
    pub fn get_mismatch(&self) -> Mismatch {
        self.mismatch
    }

    /// Returns whether an error of the body after its last declared byte fails the read.
    pub fn get_checked_at_end(&self) -> bool {
        self.checked_at_end
    }

    /// Returns the pool, if one is set.
    pub fn get_pool(&self) -> Option<&BufferPool> {
        self.pool.as_ref()
    }

    /// Returns the budget, if one is set.
    pub fn get_budget(&self) -> Option<&MemoryBudget> {
        self.budget.as_ref()
    }

    /// Returns the history, if one is set.
    pub fn get_history(&self) -> Option<&LengthHistory> {
        self.history.as_ref()
    }

    /// Returns the minimum rate, if one is set.
    pub fn get_min_rate(&self) -> Option<&MinRate> {
        self.min_rate.as_ref()
    }

    /// Reads `body`, whose length is known only from its size hint.
    pub fn collect<B: Body>(&self, body: B) -> Collect<B> {
        Collect::new(body, self.clone())
    }

    /// Reads the body of a response to a `method` request. The head of the response tells the
    /// length and whether trailers follow, as in [`Collect::of_response`].
    pub fn response<B: Body>(&self, method: &Method, response: Response<B>) -> Collect<B> {
        let (head, body) = response.into_parts();
        Collect::of_response(method, &head, body, self.clone())
    }

    /// Reads the body of a request. The head of the request tells the length and whether trailers
    /// follow, as in [`Collect::of_request`].
    pub fn request<B: Body>(&self, request: Request<B>) -> Collect<B> {
        let (head, body) = request.into_parts();
        Collect::of_request(&head, body, self.clone())
    }

    /// Reads the body of a response as one contiguous [`Bytes`]. The request must not have been
    /// HEAD.
    ///
    /// # Errors
    ///
    /// A [`CollectError`], with the numbers and with the bytes that had arrived.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the body and frees what was reserved.
    pub async fn blob<B: Body>(
        &self,
        response: Response<B>,
    ) -> Result<Bytes, CollectError<B::Error>> {
        self.response(&Method::GET, response).bytes().await
    }

    /// Reads the body of a response as UTF-8 text. The request must not have been HEAD.
    ///
    /// # Errors
    ///
    /// A [`CollectError`], with the numbers and with the bytes that had arrived;
    /// [`InvalidUtf8`](CollectError::InvalidUtf8) for a body that is not UTF-8.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the body and frees what was reserved.
    pub async fn text<B: Body>(
        &self,
        response: Response<B>,
    ) -> Result<String, CollectError<B::Error>> {
        self.response(&Method::GET, response).text().await
    }

    pub(crate) fn bounds(&self) -> Bounds {
        Bounds { limit: self.limit, eager: self.eager, addressable: isize::MAX as u64 }
    }
}

impl From<u64> for Reader {
    /// Creates the reader with this limit in bytes.
    fn from(limit: u64) -> Self {
        Self::new(limit)
    }
}
