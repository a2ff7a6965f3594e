//! What generated SDK code calls.
//!
//! For an operation whose output is one blob or one string member that is bound to the
//! whole body and is not streamed (Smithy `@httpPayload`). The response is one to a
//! request that was not HEAD, as every such operation's is.

use bytes::Bytes;
use http::{Method, Response};
use http_body::Body;

use crate::options::Reuse;
use crate::{BufferPool, Collect, CollectError, LengthHistory, MemoryBudget, ResponseExt};

/// The body as a blob: at most `limit` bytes, inclusive, contiguous. Of known length within
/// 16 MiB it is copied once at the most.
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
/// use http::Response;
/// use http_body_util::Full;
///
/// let response = Response::new(Full::<bytes::Bytes>::from("binary"));
/// assert_eq!(presized::payload::blob(response, 1 << 20).await?, "binary");
/// # Ok(())
/// # }
/// ```
pub async fn blob<B: Body>(
    response: Response<B>,
    limit: u64,
) -> Result<Bytes, CollectError<B::Error>> {
    Reader::new().blob(response, limit).await
}

/// The body as text: at most `limit` bytes, inclusive, validated as UTF-8 once, and not
/// copied for it.
///
/// # Errors
///
/// A [`CollectError`], with the numbers and with what had arrived; among them
/// [`InvalidUtf8`](CollectError::InvalidUtf8).
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
/// use http::Response;
/// use http_body_util::Full;
///
/// let response = Response::new(Full::<bytes::Bytes>::from("text"));
/// assert_eq!(presized::payload::text(response, 1 << 20).await?, "text");
/// # Ok(())
/// # }
/// ```
pub async fn text<B: Body>(
    response: Response<B>,
    limit: u64,
) -> Result<String, CollectError<B::Error>> {
    Reader::new().text(response, limit).await
}

/// [`blob`] and [`text`] with what a client shares between its calls.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use http::Response;
/// use http_body_util::Full;
/// use presized::{BufferPool, payload};
///
/// let reader = payload::Reader::new().pool(&BufferPool::new(64 << 20));
/// let response = Response::new(Full::<bytes::Bytes>::from("binary"));
/// assert_eq!(reader.blob(response, 1 << 20).await?, "binary");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a reader does nothing until it is given a response"]
pub struct Reader {
    reuse: Reuse,
}

impl Reader {
    /// A reader that shares nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the memory of blobs from `pool`. It goes back when the last clone of the
    /// [`Bytes`] is dropped. Texts take nothing from it.
    pub fn pool(mut self, pool: &BufferPool) -> Self {
        self.reuse.pool = Some(pool.clone());
        self
    }

    /// Reads within a bound that is shared with other bodies, as
    /// [`Collect::budget`](crate::Collect::budget) does.
    pub fn budget(mut self, budget: &MemoryBudget) -> Self {
        self.reuse.budget = Some(budget.clone());
        self
    }

    /// Expects of payloads without a declared length what those before measured.
    pub fn history(mut self, history: &LengthHistory) -> Self {
        self.reuse.history = Some(history.clone());
        self
    }

    /// The body as a blob, like [`blob`] with what this reader shares.
    ///
    /// # Errors
    ///
    /// Those of [`blob`], and [`CollectError::Budget`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the body and gives back what was reserved.
    pub async fn blob<B: Body>(
        &self,
        response: Response<B>,
        limit: u64,
    ) -> Result<Bytes, CollectError<B::Error>> {
        self.collect(response, limit).bytes().await
    }

    /// The body as text, like [`text`] with what this reader shares.
    ///
    /// # Errors
    ///
    /// Those of [`text`], and [`CollectError::Budget`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the body and gives back what was reserved.
    pub async fn text<B: Body>(
        &self,
        response: Response<B>,
        limit: u64,
    ) -> Result<String, CollectError<B::Error>> {
        self.collect(response, limit).string().await
    }

    fn collect<B: Body>(&self, response: Response<B>, limit: u64) -> Collect<B> {
        response.collect_presized(&Method::GET, limit).reuse(self.reuse.clone())
    }
}
