//! The mode in which a runtime sends a response.

use http::HeaderValue;
use presized_lambda_runtime::wire::STREAMING;

use super::Refusal;

/// How a runtime sends a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseMode {
    Buffered,
    Streaming,
}

impl ResponseMode {
    /// Reads `Lambda-Runtime-Function-Response-Mode`. An empty value is the same as no header.
    pub(super) fn read(header: Option<&HeaderValue>) -> Result<Self, Refusal> {
        match header {
            None => Ok(Self::Buffered),
            Some(mode) if mode.is_empty() => Ok(Self::Buffered),
            Some(mode) if mode == STREAMING => Ok(Self::Streaming),
            Some(_) => Err(Refusal::InvalidFunctionResponseMode),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_streaming_in_lower_case_is_a_response_mode() {
        for (value, expected) in [
            (None, Ok(ResponseMode::Buffered)),
            (Some(""), Ok(ResponseMode::Buffered)),
            (Some("streaming"), Ok(ResponseMode::Streaming)),
            (Some("Streaming"), Err(Refusal::InvalidFunctionResponseMode)),
            (Some("buffered"), Err(Refusal::InvalidFunctionResponseMode)),
        ] {
            let header = value.map(HeaderValue::from_static);
            assert_eq!(ResponseMode::read(header.as_ref()), expected, "{value:?}");
        }
    }
}
