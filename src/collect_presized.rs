//! [`collect_presized`]: the short form of `Collect`.

use bytes::Bytes;
use http_body::Body;

use crate::{Collect, CollectError, Reader};

/// Reads a body into one contiguous buffer.
///
/// `content_length` is the declared length in bytes, if there is one. If something decompresses the
/// body before this function, do not pass the compressed length. `limit` is the most bytes that are
/// accepted, inclusive, or a [`Reader`].
///
/// This is the short form of [`Collect`]. [`ResponseExt`](crate::ResponseExt) and
/// [`RequestExt`](crate::RequestExt) read the length from the head of a message.
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
    limit: impl Into<Reader>,
) -> Result<Bytes, CollectError<B::Error>> {
    Collect::new(body, limit).content_length(content_length).bytes().await
}
