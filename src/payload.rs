//! What generated SDK code calls.
//!
//! For an operation whose output is one blob or one string member that is bound to the
//! whole body and is not streamed (Smithy `@httpPayload`). The response is one to a
//! request that was not HEAD, as every such operation's is.

use bytes::Bytes;
use http::{Method, Response};
use http_body::Body;

use crate::{CollectError, ResponseExt};

/// The body as a blob: at most `limit` bytes, inclusive, contiguous, copied once at the
/// most.
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
    response.collect_presized(&Method::GET, limit).bytes().await
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
pub async fn text<B: Body>(
    response: Response<B>,
    limit: u64,
) -> Result<String, CollectError<B::Error>> {
    response.collect_presized(&Method::GET, limit).string().await
}
