//! Functions for generated SDK code: a response payload as a blob or as text.
//!
//! Use them for an operation whose output is the whole body and is not streamed. In Smithy, that is
//! a blob or string member with `@httpPayload`. The request must not have been HEAD.
//!
//! # What generated code may rely on
//!
//! Generated code may call these items. Every version that Cargo considers compatible has them:
//!
//! - [`blob`] and [`text`];
//! - [`Reader`] with [`new`](Reader::new), its setters, [`blob`](Reader::blob) and
//!   [`text`](Reader::text). A reader is `Clone`, `Debug`, `Send` and `Sync`;
//! - [`BufferPool::new`](crate::BufferPool::new), [`MemoryBudget::new`](crate::MemoryBudget::new),
//!   [`MemoryBudget::fail_fast`](crate::MemoryBudget::fail_fast) and
//!   [`LengthHistory::new`](crate::LengthHistory::new). Their values are `Clone`, `Send` and `Sync`;
//! - [`CollectError`]: its variants and their fields, [`is_too_large`](CollectError::is_too_large),
//!   [`received`](CollectError::received), [`partial`](CollectError::partial),
//!   [`into_partial`](CollectError::into_partial) and [`map_body`](CollectError::map_body). It is an
//!   [`Error`](std::error::Error) if the error of the body is one. Variants and fields may be
//!   added: a `match` needs a `_` arm, and a pattern needs `..`;
//! - [`Collect::of_response`](crate::Collect::of_response) with
//!   [`Collect::prefix`](crate::Collect::prefix) for error responses, and the fields
//!   [`content`](crate::Prefix::content) and [`truncated`](crate::Prefix::truncated) of the result.
//!
//! It may also rely on this behaviour:
//!
//! - The body is any [`Body`], with any data and any error.
//! - The limit is inclusive and counts bytes as the body delivers them. A declared length above
//!   the limit fails with [`DeclaredTooLarge`](CollectError::DeclaredTooLarge), and the body is not
//!   polled.
//! - A blob is one contiguous [`Bytes`], and text is one `String`. An empty body gives an empty
//!   result and no error. Generated code decides whether an empty result means an absent member.
//! - A body that ends before its declared length fails with
//!   [`Incomplete`](CollectError::Incomplete). A body that is longer than its declared
//!   length is read up to the limit.
//! - The status is ignored, and only the header fields about the length are read. The response is
//!   consumed, so generated code must first read the members that are in header fields.
//! - The futures are `Send` if the body, its data and its error are. They spawn nothing, need no
//!   runtime, and have no timeout except the [`min_rate`](Reader::min_rate) of the reader.
//!
//! These are not part of the promise, and may change: the text of messages, the number of
//! allocations and copies, and which error is returned if two apply.
//!
//! # Examples
//!
//! A deserialiser with one member in a header and one in the body:
//!
//! ```
//! use http::Response;
//! use http_body::Body;
//! use presized::{CollectError, Reader};
//!
//! struct GetThingOutput {
//!     version: Option<String>,
//!     text: Option<String>,
//! }
//!
//! async fn deserialize_get_thing<B: Body>(
//!     response: Response<B>,
//!     reader: &Reader,
//! ) -> Result<GetThingOutput, CollectError<B::Error>> {
//!     let version = response.headers().get("x-version");
//!     let version = version.and_then(|value| value.to_str().ok()).map(str::to_owned);
//!     let text = reader.text(response).await?;
//!     Ok(GetThingOutput { version, text: (!text.is_empty()).then_some(text) })
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use http_body_util::Full;
//! # let response = Response::builder().header("x-version", "3");
//! # let response = response.body(Full::<bytes::Bytes>::from("text"))?;
//! # let output = deserialize_get_thing(response, &Reader::new(4)).await?;
//! # assert_eq!((output.version.as_deref(), output.text.as_deref()), (Some("3"), Some("text")));
//! # Ok(())
//! # }
//! ```

use bytes::Bytes;
use http::Response;
use http_body::Body;

use crate::{CollectError, Reader};

/// Reads the body of a response as a blob: one contiguous [`Bytes`].
///
/// `reader` is the limit in bytes, inclusive, or a [`Reader`]. A body with a declared length of up
/// to 16 MiB is copied at most once.
///
/// # Errors
///
/// A [`CollectError`], with the numbers and with the bytes that had arrived.
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
    reader: impl Into<Reader>,
) -> Result<Bytes, CollectError<B::Error>> {
    reader.into().blob(response).await
}

/// Reads the body of a response as text: validates it as UTF-8 once, and does not copy it again.
///
/// `reader` is the limit in bytes, inclusive, or a [`Reader`].
///
/// # Errors
///
/// A [`CollectError`], with the numbers and with the bytes that had arrived;
/// [`InvalidUtf8`](CollectError::InvalidUtf8) for a body that is not UTF-8.
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
    reader: impl Into<Reader>,
) -> Result<String, CollectError<B::Error>> {
    reader.into().text(response).await
}
