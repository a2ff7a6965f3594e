//! The extractor for JSON.

use axum_core::extract::{FromRef, FromRequest, Request};
use http::{HeaderMap, header};
use presized::Reader;
use serde::de::DeserializeOwned;

use crate::PresizedRejection;
use crate::upload::Upload;

/// Extracts a value that serde parses from the JSON content of a request.
///
/// The [`Reader`] comes from the state of the router, and has the limit. The limit and the budget
/// bound the content, and not the memory of `T`. The buffer returns to the pool before the handler
/// starts.
///
/// # Differences from `axum::Json`
///
/// - The limit is the one of the reader. `DefaultBodyLimit` does not apply.
/// - The text of a rejection has the position of an error, and quotes no content. The text of axum
///   names the path and the value.
/// - The parameters of the Content-Type are ignored, even if their syntax is wrong.
/// - `PresizedJson` is not a response, and `Option<PresizedJson<T>>` is not an extractor.
///
/// # Errors
///
/// Rejects a request with the same statuses as `axum::Json`:
///
/// - 415 if the Content-Type is not `application/json` or `application/*+json`. The body is not
///   polled;
/// - 413 if the content is over the limit;
/// - 400 if the content is not JSON;
/// - 422 if the content is JSON and not a `T`.
///
/// It adds 503 if there is no memory for the body now, and 408 if the body is too slow.
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
/// use presized_axum::PresizedJson;
///
/// async fn sum(PresizedJson(numbers): PresizedJson<Vec<i64>>) -> String {
///     numbers.iter().sum::<i64>().to_string()
/// }
///
/// let app: Router = Router::new().route("/sum", post(sum)).with_state(Reader::new(64 << 10));
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct PresizedJson<T>(pub T);

impl<S, T> FromRequest<S> for PresizedJson<T>
where
    S: Send + Sync,
    Reader: FromRef<S>,
    T: DeserializeOwned,
{
    type Rejection = PresizedRejection;

    async fn from_request(request: Request, state: &S) -> Result<Self, PresizedRejection> {
        let mut upload = Upload::new(request, state);
        if !declares_json(&upload.head().headers) {
            return Err(PresizedRejection::MissingJsonContentType);
        }
        let read = upload.collect().json().await;
        upload.finish(read).map(Self)
    }
}

/// Returns whether the Content-Type is `application/json` or `application/*+json`, with or without
/// parameters (RFC 6839 §3.1).
fn declares_json(headers: &HeaderMap) -> bool {
    let Some(content_type) = headers.get(header::CONTENT_TYPE) else { return false };
    let Ok(content_type) = content_type.to_str() else { return false };
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence
        .strip_prefix("application/")
        .is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_declared_by_its_type_or_suffix() {
        let table = [
            ("application/json", true),
            ("application/json; charset=utf-8", true),
            ("APPLICATION/Json", true),
            (" application/json ;x=y", true),
            ("application/cloudevents+json", true),
            ("application/vnd.api+json; version=1", true),
            ("application/jsonlines", false),
            ("application/json-seq", false),
            ("application/", false),
            ("text/json", false),
            ("text/plain; application/json", false),
            ("json", false),
            ("", false),
        ];
        for (value, expected) in table {
            let headers = [(header::CONTENT_TYPE, value.parse().unwrap())].into_iter().collect();
            assert_eq!(declares_json(&headers), expected, "{value}");
        }
        assert!(!declares_json(&HeaderMap::new()));
    }
}
