//! What generated SDK code calls.
//!
//! For an operation whose output is one blob or one string member that is bound to the
//! whole body and is not streamed (Smithy `@httpPayload`). The response is one to a
//! request that was not HEAD, as every such operation's is.
//!
//! `examples/generated_client` has two operations of AWS as a generator would emit them: their
//! inputs, their deserialisers, and the errors of restJson1 and restXml.
//!
//! # What generated code may rely on
//!
//! Generated code outlives the run of its generator. It may call what is listed here, and finds
//! it in every version that Cargo takes for compatible with the one it was generated for:
//!
//! - [`blob`] and [`text`];
//! - [`Reader`], by [`new`](Reader::new) or `default`, with [`pool`](Reader::pool),
//!   [`budget`](Reader::budget), [`history`](Reader::history), [`blob`](Reader::blob) and
//!   [`text`](Reader::text); a reader is `Clone`, `Debug`, `Send` and `Sync`;
//! - [`BufferPool::new`], [`MemoryBudget::new`], [`MemoryBudget::fail_fast`] and
//!   [`LengthHistory::new`], for what a reader shares; their values are `Clone`, `Send` and `Sync`;
//! - [`CollectError`]: its variants and their fields, [`is_too_large`](CollectError::is_too_large),
//!   [`received`](CollectError::received), [`into_partial`](CollectError::into_partial) and
//!   [`map_body`](CollectError::map_body), and that it is an [`Error`](std::error::Error) where the
//!   error of the body is one. Variants and fields may be added: a `match` needs a `_` arm, and
//!   a pattern a `..`;
//! - [`Collect::of`] with [`Collect::prefix`], for an answer that is no success, and
//!   [`content`](crate::Prefix::content) and [`truncated`](crate::Prefix::truncated) of what it
//!   gives.
//!
//! And on what these do:
//!
//! - The body is any [`Body`], with any data and any error. No bound is added to that.
//! - The limit is inclusive and counts bytes as the body delivers them. A declared length above
//!   it is [`DeclaredTooLarge`](CollectError::DeclaredTooLarge), and the body is not polled.
//! - A blob is one contiguous [`Bytes`], a text one `String`. An empty body is an empty one of
//!   either and no error; whether that is a member is the operation's to say.
//! - Content that ends before its declared length is [`Incomplete`](CollectError::Incomplete), and
//!   content that goes on after it is read on, up to the limit.
//! - The status is not looked at, and of the headers those only which tell the length. The
//!   response is used up, so members that are bound to headers are to be taken out before.
//! - The futures are `Send` where the body, its data and its error are. Nothing is spawned, no
//!   runtime is needed, and there is no timeout.
//!
//! Not part of it are the text of messages, which error it is where two apply, and how many
//! allocations and copies there are. These are tested and may get fewer.
//!
//! The public API of the whole crate is compared with a committed list of it before any change
//! lands (`.ci/public-api.txt` in the repository).
//!
//! # Examples
//!
//! A deserialiser, with one member in a header and one in the body:
//!
//! ```
//! use http::Response;
//! use http_body::Body;
//! use presized::{CollectError, payload};
//!
//! struct GetThingOutput {
//!     version: Option<String>,
//!     text: Option<String>,
//! }
//!
//! async fn deserialize_get_thing<B: Body>(
//!     response: Response<B>,
//!     reader: &payload::Reader,
//!     limit: u64,
//! ) -> Result<GetThingOutput, CollectError<B::Error>> {
//!     let version = response.headers().get("x-version");
//!     let version = version.and_then(|value| value.to_str().ok()).map(str::to_owned);
//!     let text = reader.text(response, limit).await?;
//!     Ok(GetThingOutput { version, text: (!text.is_empty()).then_some(text) })
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use http_body_util::Full;
//! # let response = Response::builder().header("x-version", "3");
//! # let response = response.body(Full::<bytes::Bytes>::from("text"))?;
//! # let output = deserialize_get_thing(response, &payload::Reader::new(), 4).await?;
//! # assert_eq!((output.version.as_deref(), output.text.as_deref()), (Some("3"), Some("text")));
//! # Ok(())
//! # }
//! ```

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
