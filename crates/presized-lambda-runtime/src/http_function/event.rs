//! The members of an event that become a request, of all sources.

use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::HttpSource;
use super::pairs::Pairs;
use crate::ErrorReport;
use crate::json::UNMARSHAL;
use crate::text::Text;

/// An event. The members that its source does not have are `None`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Event<'a> {
    pub(super) version: Option<Text<'a>>,
    #[serde(default)]
    pub(super) request_context: EventContext<'a>,
    pub(super) http_method: Option<Text<'a>>,
    pub(super) path: Option<Text<'a>>,
    pub(super) raw_path: Option<Text<'a>>,
    pub(super) raw_query_string: Option<Text<'a>>,
    pub(super) query_string_parameters: Option<Pairs<'a>>,
    pub(super) multi_value_query_string_parameters: Option<Pairs<'a>>,
    pub(super) cookies: Option<Vec<Text<'a>>>,
    pub(super) headers: Option<Pairs<'a>>,
    pub(super) multi_value_headers: Option<Pairs<'a>>,
    pub(super) body: Option<Text<'a>>,
    pub(super) is_base64_encoded: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct EventContext<'a> {
    pub(super) api_id: Option<Text<'a>>,
    pub(super) domain_name: Option<Text<'a>>,
    pub(super) domain_prefix: Option<Text<'a>>,
    pub(super) stage: Option<Text<'a>>,
    pub(super) http: Option<EventHttp<'a>>,
    connection_id: Option<IgnoredAny>,
    elb: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub(super) struct EventHttp<'a> {
    pub(super) method: Text<'a>,
}

impl<'a> Event<'a> {
    /// Parses an event.
    ///
    /// # Errors
    ///
    /// Returns a report if it is not JSON, or a member has another type.
    pub(super) fn parse(event: &'a Bytes) -> Result<Self, ErrorReport> {
        // The parser would check each string by itself.
        let text = std::str::from_utf8(event)
            .map_err(|error| ErrorReport::new(UNMARSHAL, format!("event is not UTF-8: {error}")))?;
        serde_json::from_str(text).map_err(|error| ErrorReport::from_dyn(UNMARSHAL, &error))
    }

    /// Returns the source, if it is one of those that send HTTP requests.
    pub(super) fn source(&self) -> Option<HttpSource> {
        let context = &self.request_context;
        let is_url =
            || context.domain_name.as_ref().is_some_and(|name| name.contains(".lambda-url."));
        match context {
            EventContext { elb: Some(_), .. } => Some(HttpSource::LoadBalancer),
            EventContext { http: Some(_), .. } if is_url() => Some(HttpSource::FunctionUrl),
            EventContext { http: Some(_), .. } => Some(HttpSource::HttpApi),
            _ if self.http_method.is_some() => Some(HttpSource::RestApi),
            EventContext { connection_id: Some(_), .. } => Some(HttpSource::WebSocketApi),
            _ => None,
        }
    }
}
