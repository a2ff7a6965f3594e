//! The extractor for text.

use axum_core::extract::{FromRef, FromRequest, Request};
use presized::Reader;

use crate::PresizedRejection;
use crate::upload::Upload;

/// Extracts the content of a request as UTF-8 text.
///
/// The [`Reader`] comes from the state of the router, and has the limit. The Content-Type is
/// ignored. The text is memory of the handler: it does not come from the pool, and leaves the
/// budget when the handler starts.
///
/// # Errors
///
/// Rejects a request with [`PresizedRejection::Body`]. Content that is not UTF-8 has status 400.
///
/// # Cancel safety
///
/// If the client closes the connection, or a timeout drops the handler, what was reserved is freed.
///
/// # Examples
///
/// ```
/// use axum::{Router, routing::post};
/// use presized::Reader;
/// use presized_axum::PresizedText;
///
/// async fn comment(PresizedText(text): PresizedText) -> String {
///     format!("{} characters", text.chars().count())
/// }
///
/// let app: Router = Router::new().route("/comment", post(comment)).with_state(Reader::new(4096));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PresizedText(pub String);

impl<S> FromRequest<S> for PresizedText
where
    S: Send + Sync,
    Reader: FromRef<S>,
{
    type Rejection = PresizedRejection;

    async fn from_request(request: Request, state: &S) -> Result<Self, PresizedRejection> {
        let mut upload = Upload::new(request, state);
        let read = upload.collect().text().await;
        upload.finish(read).map(Self)
    }
}
