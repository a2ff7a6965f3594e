//! Percent encoding of members that are part of a request target.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

use crate::BuildError;

/// Encodes a member that is a segment of the path (Smithy `@httpLabel`).
pub fn label<'a>(member: &'static str, value: &'a str) -> Result<PercentEncode<'a>, BuildError> {
    match value {
        // These segments lead to another path, at once or after normalization (RFC 3986 §5.2.4).
        "" | "." | ".." => Err(BuildError::Label { member, value: value.to_owned() }),
        _ => Ok(encode(value)),
    }
}

/// Encodes a member for a query (Smithy `@httpQuery`) or a path.
pub fn encode(value: &str) -> PercentEncode<'_> {
    utf8_percent_encode(value, RESERVED)
}

/// All characters except the unreserved ones of RFC 3986 §2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
