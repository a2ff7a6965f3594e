//! The report of a failed function.

use serde::Deserialize;

/// The type and the message of an error, without its stack trace.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) error_type: String,
    pub(crate) error_message: String,
}

impl Report {
    pub(crate) fn new(error_type: &str, error_message: &str) -> Self {
        Self { error_type: error_type.to_owned(), error_message: error_message.to_owned() }
    }

    #[track_caller]
    pub(crate) fn of(payload: &[u8]) -> Self {
        serde_json::from_slice(payload)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(payload)))
    }
}
