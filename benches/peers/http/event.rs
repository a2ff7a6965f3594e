//! The events, and the responses that a caller must receive.

use bytes::Bytes;
use presized_support::client::Error;
use presized_support::http_events::{http_api, rest_api};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The source of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Source {
    HttpApi,
    RestApi,
}

impl Source {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::HttpApi => "HTTP API",
            Self::RestApi => "REST API",
        }
    }

    /// Returns an event of this length, whose body fills it up, and the body of its response.
    pub(crate) fn call(self, bytes: usize) -> (Bytes, Bytes) {
        let mut event = match self {
            Self::HttpApi => http_api("$default", "/cats"),
            Self::RestApi => rest_api(),
        };
        event["body"] = "".into();
        let room = bytes.saturating_sub(event.to_string().len());
        // A document in JSON, whose quotes take two bytes in the event.
        let document = format!(r#"{{"name":"{}"}}"#, "x".repeat(room.saturating_sub(15)));
        event["body"] = document.clone().into();
        let event = event.to_string();
        assert_eq!(event.len(), bytes, "the event has no room for its body");
        (event.into(), document.into())
    }
}

/// Checks the status and the body of a response in JSON.
pub(crate) fn check(response: &[u8], body: &[u8]) -> Result<(), Error> {
    let response: Value = serde_json::from_slice(response)?;
    let is_right = response["statusCode"] == 200
        && response["body"].as_str().is_some_and(|text| text.as_bytes() == body);
    if is_right { Ok(()) } else { Err("a function responded with wrong content".into()) }
}
