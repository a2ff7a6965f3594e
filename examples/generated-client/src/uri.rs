//! Members that are part of a request target.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

use super::BuildError;

/// A member that is a segment of the path (Smithy `@httpLabel`).
pub fn label<'a>(member: &'static str, value: &'a str) -> Result<PercentEncode<'a>, BuildError> {
    match value {
        // The path would be that of another operation, or be made so on the way (RFC 3986 §5.2.4).
        "" | "." | ".." => Err(BuildError::Label { member, value: value.to_owned() }),
        _ => Ok(encode(value)),
    }
}

/// A member as it is in a query (Smithy `@httpQuery`), and in a path.
pub fn encode(value: &str) -> PercentEncode<'_> {
    utf8_percent_encode(value, RESERVED)
}

/// All but the unreserved characters of RFC 3986 §2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
