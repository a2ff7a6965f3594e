//! The internal extension for which Lambda sends SIGTERM.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use tokio::task::JoinHandle;
use tokio::time;

use super::api::Api;
use super::wire::{EXTENSION_ID, EXTENSION_NAME, Route};
use super::{Error, RuntimeClient};

/// An extension without events, until it is dropped.
#[derive(Debug)]
pub(super) struct Extension(JoinHandle<()>);

impl Extension {
    /// Registers the extension, if the server has the Extensions API. A failure is logged.
    pub(super) async fn register(client: &RuntimeClient) -> Option<Self> {
        let api = Arc::clone(&client.api);
        match register(&api).await {
            Ok(id) => Some(Self(tokio::spawn(wait(api, id)))),
            Err(error) => {
                let error = error.as_dyn();
                tracing::warn!(error, "no extension registered, so Lambda sends no SIGTERM");
                None
            }
        }
    }
}

impl Drop for Extension {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Registers for no event, and returns the id of the extension.
async fn register(api: &Api) -> Result<HeaderValue, Error> {
    let mut headers = HeaderMap::new();
    headers.insert(EXTENSION_NAME, NAME);
    headers.insert(CONTENT_TYPE, JSON);
    let body = Bytes::from_static(br#"{"events":[]}"#);
    let (head, exchange) = api.exchange(Route::RegisterExtension, headers, body).await?;
    let id = head.headers.get(EXTENSION_ID).map(|id| HeaderValue::from_bytes(id.as_bytes()));
    match id {
        Some(Ok(id)) if head.status == StatusCode::OK => {
            api.discard(head, exchange).await;
            Ok(id)
        }
        _ => Err(api.error(&head, exchange).await.into()),
    }
}

/// Requests the next event. Lambda sends none, but ends the initialization only after this request.
async fn wait(api: Arc<Api>, id: HeaderValue) {
    loop {
        let headers = HeaderMap::from_iter([(EXTENSION_ID, id.clone())]);
        match api.exchange(Route::NextExtensionEvent, headers, Bytes::new()).await {
            Ok((head, exchange)) if head.status.is_success() => api.discard(head, exchange).await,
            Ok((head, exchange)) => {
                let error = api.error(&head, exchange).await;
                tracing::warn!(%error, "extension ended");
                return;
            }
            // The connection does not survive a snapshot.
            Err(error) => tracing::debug!(error = error.as_dyn(), "extension waits again"),
        }
        time::sleep(PAUSE).await;
    }
}

/// The name must be unique in the function.
const NAME: HeaderValue = HeaderValue::from_static("presized-lambda-runtime-graceful-shutdown");

const JSON: HeaderValue = HeaderValue::from_static("application/json");

const PAUSE: Duration = Duration::from_secs(1);
