//! The target of a request: the function and its qualifier, encoded for the wire and for the
//! signature.
//!
//! It is pure. It accepts any function name that a path can carry, because the service decides
//! which names are valid.

use std::fmt;

use http::uri::PathAndQuery;

use super::canonical::{self, encode, encoded_len};
use super::wire::{Operation, QUALIFIER};

/// The target of all requests of one call.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The target as it is sent: the function name and the qualifier are percent-encoded once.
    pub(super) path_and_query: PathAndQuery,
    /// The path as it is signed: the path as sent, encoded once more. SigV4 requires that for
    /// every service but S3. The `:` of an ARN is `%3A` on the wire and `%253A` here.
    pub(super) canonical_path: String,
}

impl Target {
    /// Makes the target of `operation` on `function`, below the path of the endpoint.
    ///
    /// `base_path` is [`Endpoint::base_path`](super::endpoint::Endpoint::base_path).
    pub(super) fn new(
        base_path: &str,
        operation: Operation,
        function: &str,
        qualifier: Option<&str>,
    ) -> Result<Self, TargetError> {
        match function {
            "" => return Err(TargetError::NoFunction),
            "." | ".." => return Err(TargetError::DotSegment),
            _ => {}
        }
        if qualifier == Some("") {
            return Err(TargetError::EmptyQualifier);
        }
        let (before, after) = operation.path_parts();
        let label = encode(function);
        let query = qualifier.map_or(0, |qualifier| QUERY_START + encoded_len(&encode(qualifier)));

        // With the exact capacity, `Bytes` takes the string without another allocation.
        let mut wire = String::with_capacity(
            base_path.len() + before.len() + encoded_len(&label) + after.len() + query,
        );
        wire.push_str(base_path);
        wire.push_str(before);
        wire.extend(label);
        wire.push_str(after);
        let canonical_path = canonical::path(&wire);
        if let Some(qualifier) = qualifier {
            wire.push('?');
            canonical::push_query(&mut [(QUALIFIER, qualifier)], &mut wire);
        }

        let length = wire.len();
        // Every character is valid in a URI, so only the length can be wrong.
        let path_and_query = wire.try_into().map_err(|_| TargetError::TooLong { length })?;
        Ok(Self { path_and_query, canonical_path })
    }

    /// Returns the query as it is signed. It is the query as sent: it has one parameter, so that
    /// sorting does not change it.
    pub(super) fn canonical_query(&self) -> &str {
        self.path_and_query.query().unwrap_or_default()
    }
}

/// Why a function name or a qualifier cannot be part of a request target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetError {
    NoFunction,
    DotSegment,
    EmptyQualifier,
    /// The target would have this number of bytes.
    TooLong {
        length: usize,
    },
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFunction => f.write_str("function name is empty"),
            Self::DotSegment => f.write_str(
                "function name must not be `.` or `..`, because servers remove it from a path",
            ),
            Self::EmptyQualifier => f.write_str(
                "qualifier is empty: set a version, an alias or $LATEST, or do not set it",
            ),
            Self::TooLong { length } => write!(
                f,
                "request target of {length} bytes is too long for a URI: use a shorter function \
                 name or qualifier"
            ),
        }
    }
}

impl std::error::Error for TargetError {}

/// The length of the query up to the value of its parameter.
const QUERY_START: usize = "?".len() + QUALIFIER.len() + "=".len();

#[cfg(test)]
mod tests {
    use super::Operation::{Invoke, InvokeWithResponseStream};
    use super::*;

    #[test]
    fn function_name_is_encoded_once_on_the_wire_and_twice_in_the_signature() {
        for (name, wire, canonical) in [
            ("fn", "fn", "fn"),
            ("fn:prod", "fn%3Aprod", "fn%253Aprod"),
            ("fn:$LATEST", "fn%3A%24LATEST", "fn%253A%2524LATEST"),
            (
                "123456789012:function:fn",
                "123456789012%3Afunction%3Afn",
                "123456789012%253Afunction%253Afn",
            ),
            (
                "arn:aws:lambda:us-west-2:123456789012:function:fn",
                "arn%3Aaws%3Alambda%3Aus-west-2%3A123456789012%3Afunction%3Afn",
                "arn%253Aaws%253Alambda%253Aus-west-2%253A123456789012%253Afunction%253Afn",
            ),
            (
                "arn:aws:lambda:us-west-2:123456789012:function:fn:$LATEST.PUBLISHED",
                "arn%3Aaws%3Alambda%3Aus-west-2%3A123456789012%3Afunction%3Afn%3A%24LATEST.PUBLISHED",
                "arn%253Aaws%253Alambda%253Aus-west-2%253A123456789012%253Afunction%253Afn%253A%2524LATEST.PUBLISHED",
            ),
            ("A-z_0.9~", "A-z_0.9~", "A-z_0.9~"),
            ("...", "...", "..."),
            // Whatever would end the segment, the path or the line stays inside the name.
            ("../x", "..%2Fx", "..%252Fx"),
            ("a b+c", "a%20b%2Bc", "a%2520b%252Bc"),
            ("a?b#c&d=e", "a%3Fb%23c%26d%3De", "a%253Fb%2523c%2526d%253De"),
            ("a\r\n\0", "a%0D%0A%00", "a%250D%250A%2500"),
            ("a%3Ab", "a%253Ab", "a%25253Ab"),
            ("h\u{f6}\u{1f980}", "h%C3%B6%F0%9F%A6%80", "h%25C3%25B6%25F0%259F%25A6%2580"),
        ] {
            let target = Target::new("", Invoke, name, None).expect(name);
            assert_eq!(
                target.path_and_query.as_str(),
                format!("/2015-03-31/functions/{wire}/invocations")
            );
            assert_eq!(
                target.canonical_path,
                format!("/2015-03-31/functions/{canonical}/invocations")
            );
            assert_eq!(target.canonical_query(), "");
        }
    }

    #[test]
    fn ascii_characters_are_encoded_except_unreserved_ones() {
        for byte in 0..=0x7f_u8 {
            // Between two letters, since a lone dot is refused.
            let name = format!("a{}b", char::from(byte));
            let unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            let label = if unreserved { name.clone() } else { format!("a%{byte:02X}b") };
            let target = Target::new("", Invoke, &name, Some(&name)).expect(&label);
            assert_eq!(
                target.path_and_query.as_str(),
                format!("/2015-03-31/functions/{label}/invocations?Qualifier={label}")
            );
        }
    }

    #[test]
    fn streaming_has_its_own_path() {
        let target = Target::new("", InvokeWithResponseStream, "fn:a", None).expect("a plain name");
        assert_eq!(
            target.path_and_query.as_str(),
            "/2021-11-15/functions/fn%3Aa/response-streaming-invocations"
        );
        assert_eq!(
            target.canonical_path,
            "/2021-11-15/functions/fn%253Aa/response-streaming-invocations"
        );
    }

    #[test]
    fn qualifier_is_encoded_once_on_the_wire_and_in_the_signature() {
        for (qualifier, query) in [
            ("$LATEST", "Qualifier=%24LATEST"),
            ("$LATEST.PUBLISHED", "Qualifier=%24LATEST.PUBLISHED"),
            ("42", "Qualifier=42"),
            ("prod-eu_1", "Qualifier=prod-eu_1"),
            (".", "Qualifier=."),
            ("a&b=c d", "Qualifier=a%26b%3Dc%20d"),
        ] {
            let target = Target::new("", Invoke, "fn", Some(qualifier)).expect(qualifier);
            assert_eq!(target.path_and_query.query(), Some(query));
            assert_eq!(target.canonical_query(), query);
            assert_eq!(target.canonical_path, "/2015-03-31/functions/fn/invocations");
        }
    }

    #[test]
    fn endpoint_path_is_unchanged_on_the_wire_and_encoded_in_the_signature() {
        for (base, canonical) in
            [("/a/b", "/a/b"), ("/a%20b", "/a%2520b"), ("/stage:1/@x", "/stage%3A1/%40x")]
        {
            let target = Target::new(base, Invoke, "f:1", Some("2")).expect(base);
            assert_eq!(
                target.path_and_query.as_str(),
                format!("{base}/2015-03-31/functions/f%3A1/invocations?Qualifier=2")
            );
            assert_eq!(
                target.canonical_path,
                format!("{canonical}/2015-03-31/functions/f%253A1/invocations")
            );
        }
    }

    #[test]
    fn name_that_a_path_cannot_carry_is_refused() {
        let long = ":".repeat(22_000);
        for (name, qualifier, expected) in [
            ("", None, TargetError::NoFunction),
            (".", None, TargetError::DotSegment),
            ("..", Some("1"), TargetError::DotSegment),
            ("fn", Some(""), TargetError::EmptyQualifier),
            (&long, None, TargetError::TooLong { length: 66_034 }),
        ] {
            let refused =
                Target::new("", Invoke, name, qualifier).expect_err("a name no path can carry");
            assert_eq!(refused, expected);
        }
    }
}
