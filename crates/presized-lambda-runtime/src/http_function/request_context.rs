//! The source of a request, and its event.

use std::fmt;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::ErrorReport;
use crate::json::UNMARSHAL;

/// Describes the source of a request, and holds the event that it came in.
///
/// Each request of [`http`](fn@super::http) has it as an extension. The crate `aws_lambda_events` has
/// types for [`request_context`](Self::request_context) and [`event`](Self::event). A type with a few
/// members serves as well.
///
/// # Examples
///
/// ```
/// use axum::Extension;
/// use presized_lambda_runtime::{ErrorReport, RequestContext};
///
/// #[derive(serde::Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Api {
///     account_id: String,
/// }
///
/// async fn account(Extension(context): Extension<RequestContext>) -> String {
///     match context.request_context::<Api>() {
///         Ok(api) => api.account_id,
///         Err(report) => report.error_message,
///     }
/// }
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct RequestContext {
    /// The source of the request.
    pub source: HttpSource,
    /// The event in JSON. Headers and body of the request are parts of it.
    pub json: Bytes,
}

/// The service of AWS that a request came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HttpSource {
    /// An HTTP API of API Gateway, with events of payload format 2.0.
    HttpApi,
    /// A function URL.
    FunctionUrl,
    /// A REST API of API Gateway, or an HTTP API with events of payload format 1.0.
    RestApi,
    /// A WebSocket API of API Gateway.
    WebSocketApi,
    /// An Application Load Balancer.
    LoadBalancer,
}

impl RequestContext {
    /// Creates a context, as a test of a service needs it.
    pub fn new(source: HttpSource, json: impl Into<Bytes>) -> Self {
        Self { source, json: json.into() }
    }

    /// Parses the member `requestContext` of the event: account, stage, authorizer, identity.
    ///
    /// It is parsed at each call.
    ///
    /// # Errors
    ///
    /// Returns a report if it does not have the members of `T`.
    pub fn request_context<T: DeserializeOwned>(&self) -> Result<T, ErrorReport> {
        self.event().map(|Event { request_context }| request_context)
    }

    /// Parses the event, which also has path parameters and stage variables.
    ///
    /// It is parsed at each call.
    ///
    /// # Errors
    ///
    /// Returns a report if it does not have the members of `T`.
    pub fn event<T: DeserializeOwned>(&self) -> Result<T, ErrorReport> {
        serde_json::from_slice(&self.json).map_err(|error| ErrorReport::from_dyn(UNMARSHAL, &error))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event<T> {
    request_context: T,
}

impl fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestContext")
            .field("source", &self.source)
            .field("json", &format_args!("{} bytes", self.json.len()))
            .finish()
    }
}
