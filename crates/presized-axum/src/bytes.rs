//! The extractor for bytes.

use axum_core::extract::{FromRef, FromRequest, Request};
use bytes::Bytes;
use presized::Reader;

use crate::PresizedRejection;
use crate::upload::Upload;

/// Extracts the content of a request as one [`Bytes`].
///
/// The [`Reader`] comes from the state of the router, and has the limit. The buffer returns to the
/// pool of the reader, and its share to the budget, when the last clone of the content is dropped.
///
/// # Errors
///
/// Rejects a request with [`PresizedRejection::Body`].
///
/// # Cancel safety
///
/// If the client closes the connection, or a timeout drops the handler, what was reserved is freed.
///
/// # Examples
///
/// ```
/// use axum::{Router, routing::put};
/// use presized::Reader;
/// use presized_axum::PresizedBytes;
///
/// async fn upload(PresizedBytes(content): PresizedBytes) -> String {
///     format!("{} bytes", content.len())
/// }
///
/// let reader = Reader::new(8 << 20); // bytes
/// let app: Router = Router::new().route("/picture", put(upload)).with_state(reader);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PresizedBytes(pub Bytes);

impl<S> FromRequest<S> for PresizedBytes
where
    S: Send + Sync,
    Reader: FromRef<S>,
{
    type Rejection = PresizedRejection;

    async fn from_request(request: Request, state: &S) -> Result<Self, PresizedRejection> {
        let mut upload = Upload::new(request, state);
        let read = upload.collect().bytes().await;
        upload.finish(read).map(Self)
    }
}
