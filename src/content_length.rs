//! The content length of a message: what the header fields declare.
//!
//! Pure functions of a head. `declared.rs` combines the result with the size hint of the body, and
//! `reserve.rs` decides what is reserved for it.

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING};
use http::{Method, StatusCode, response};

/// The length of a body as it is known before the body is read, in bytes.
///
/// There will be no further variants. A `u64` and an `Option<u64>` convert into it, for a caller
/// that has parsed the field already:
///
/// ```
/// use presized::ContentLength;
///
/// assert_eq!(ContentLength::from(42), ContentLength::Exact(42));
/// assert_eq!(ContentLength::from(Some(42)), ContentLength::Exact(42));
/// assert_eq!(ContentLength::from(None), ContentLength::Unknown);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContentLength {
    /// No length is declared: the field is absent, or Transfer-Encoding overrides it.
    #[default]
    Unknown,
    /// The body has this many bytes. A body with fewer bytes is truncated.
    Exact(u64),
    /// A number that may differ from the delivered bytes, such as the coded length of a body that is
    /// decoded. It guides the first reservation and never causes an error.
    Hint(u64),
    /// The field is present and is not a valid length. The body is read as if the length were
    /// [`Unknown`]. A caller that does its own framing can refuse the message (RFC 9112 §6.3).
    ///
    /// [`Unknown`]: ContentLength::Unknown
    Invalid,
}

impl ContentLength {
    /// Reads the content length from the head of a response to a `method` request.
    ///
    /// - It is `Exact(0)` for a response to HEAD, and for a response with status 1xx, 204 or 304.
    ///   They have no content, whatever the field says (RFC 9112 §6.3 rule 1).
    /// - It is `Unknown` for a successful response to CONNECT, because a tunnel follows it instead
    ///   of content (rule 2).
    /// - For all other responses, [`from_headers`](Self::from_headers) reads the header fields.
    pub fn of_response(method: &Method, head: &response::Parts) -> Self {
        if has_no_content(method, head) {
            return Self::Exact(0);
        }
        if method == Method::CONNECT && head.status.is_success() {
            return Self::Unknown;
        }
        Self::from_headers(&head.headers)
    }

    /// Reads the content length from the header fields of a message that may have content, such as
    /// a request.
    ///
    /// - A value consists of digits only (RFC 9110 §8.6) and fits into a `u64`.
    /// - Repeats of one decimal value, on separate lines or in a list, are that value.
    /// - Any conflict and any invalid member make the field `Invalid`.
    /// - Transfer-Encoding overrides the field (RFC 9112 §6.3 rule 3): `Unknown`.
    /// - With a Content-Encoding other than `identity` the number counts coded bytes: `Hint`.
    pub fn from_headers(headers: &HeaderMap) -> Self {
        if headers.contains_key(TRANSFER_ENCODING) {
            return Self::Unknown;
        }
        let mut length = None;
        for value in headers.get_all(CONTENT_LENGTH) {
            for member in value.as_bytes().split(|&byte| byte == b',') {
                match (parse_digits(trim_ows(member)), length) {
                    (Some(number), None) => length = Some(number),
                    (Some(number), Some(earlier)) if number == earlier => {}
                    _ => return Self::Invalid,
                }
            }
        }
        match length {
            None => Self::Unknown,
            Some(number) if is_coded(headers) => Self::Hint(number),
            Some(number) => Self::Exact(number),
        }
    }

    /// Returns the number of bytes, exact or not.
    pub fn value(self) -> Option<u64> {
        match self {
            Self::Exact(number) | Self::Hint(number) => Some(number),
            Self::Unknown | Self::Invalid => None,
        }
    }
}

/// Whether a response to a `method` request has no content by its head alone (RFC 9112 §6.3
/// rule 1, RFC 9110 §9.3.2).
pub(crate) fn has_no_content(method: &Method, head: &response::Parts) -> bool {
    method == Method::HEAD
        || head.status.is_informational()
        || matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

impl From<u64> for ContentLength {
    /// Converts a known length into [`ContentLength::Exact`].
    fn from(length: u64) -> Self {
        Self::Exact(length)
    }
}

impl From<Option<u64>> for ContentLength {
    /// Converts a known length into [`ContentLength::Exact`], and `None` into
    /// [`ContentLength::Unknown`].
    fn from(length: Option<u64>) -> Self {
        length.map_or(Self::Unknown, Self::Exact)
    }
}

/// Says what happens when the declared length of a body is wrong.
///
/// The rule applies to [`ContentLength::Exact`]. A [`Hint`](ContentLength::Hint) is never wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// A shorter body is an error, because bytes are missing (RFC 9112 §8). A longer body is read
    /// up to the limit, because it may have been decompressed after its length was declared.
    /// [`CollectStats::is_longer`](crate::CollectStats::is_longer) reports it.
    #[default]
    RejectShorter,
    /// A shorter and a longer body are errors.
    Reject,
    /// Neither is an error. [`CollectStats`](crate::CollectStats) reports both. A transport that
    /// enforces the length itself, as hyper does, still fails a shorter body.
    Allow,
}

/// Parses `1*DIGIT` only, because `u64::from_str` accepts a leading plus (CVE-2021-32715).
fn parse_digits(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// Trims SP and HTAB (RFC 9110 §5.6.3). `trim_ascii` would trim more.
fn trim_ows(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// Whether a content coding was applied. Codings are case-insensitive, and empty members of the
/// list are ignored (RFC 9110 §8.4, §5.6.1).
fn is_coded(headers: &HeaderMap) -> bool {
    headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
        .map(trim_ows)
        .any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
}

#[cfg(test)]
mod tests {
    use super::ContentLength::{Exact, Hint, Invalid, Unknown};
    use super::*;
    use http::{HeaderValue, Response};

    fn headers(fields: &[(&'static str, &[u8])]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for &(name, value) in fields {
            map.append(name, HeaderValue::from_bytes(value).unwrap());
        }
        map
    }

    #[test]
    fn one_value() {
        let table: &[(&[u8], ContentLength)] = &[
            (b"0", Exact(0)),
            (b"5", Exact(5)),
            (b" 5\t", Exact(5)),
            (b"\t 5", Exact(5)),
            (b"05", Exact(5)),
            (b"00000000000000000000000000000000000000000005", Exact(5)),
            (b"18446744073709551615", Exact(u64::MAX)),
            (b"9000000000000000000", Exact(9_000_000_000_000_000_000)),
            // One more than fits, and far more.
            (b"18446744073709551616", Invalid),
            (b"99999999999999999999999999999999", Invalid),
            // Signs (CVE-2021-32715).
            (b"+5", Invalid),
            (b"-1", Invalid),
            (b"-0", Invalid),
            // Nothing, blanks, and blanks inside.
            (b"", Invalid),
            (b" ", Invalid),
            (b"\t", Invalid),
            (b"1 2", Invalid),
            (b"5 5", Invalid),
            // Other ways to write a number.
            (b"5_0", Invalid),
            (b"0x5", Invalid),
            (b"5.0", Invalid),
            (b"5e0", Invalid),
            (b"\xd9\xa5", Invalid),
            (b"\xff", Invalid),
            (b"five", Invalid),
            // Lists.
            (b"3,3", Exact(3)),
            (b"3 , 3", Exact(3)),
            (b"3,03,\t3", Exact(3)),
            (b"133172, 133172", Exact(133_172)),
            (b"42,30", Invalid),
            (b"42,", Invalid),
            (b",42", Invalid),
            (b"42,,42", Invalid),
            (b",", Invalid),
            (b"42,x", Invalid),
            (b"42x", Invalid),
            (b"42;42", Invalid),
        ];
        for (value, expected) in table {
            let found = ContentLength::from_headers(&headers(&[("content-length", value)]));
            assert_eq!(found, *expected, "{:?}", value.escape_ascii().to_string());
        }
    }

    #[test]
    fn many_lines() {
        let table: &[(&[&[u8]], ContentLength)] = &[
            (&[], Unknown),
            (&[b"3", b"3"], Exact(3)),
            (&[b"3", b"3", b"3, 3"], Exact(3)),
            (&[b"5", b"05"], Exact(5)),
            (&[b"10", b"20"], Invalid),
            (&[b"20", b"10"], Invalid),
            (&[b"10", b"10,20"], Invalid),
            (&[b"42", b"\xff"], Invalid),
            (&[b"42", b""], Invalid),
            (&[b"", b"42"], Invalid),
        ];
        for (values, expected) in table {
            let fields: Vec<_> = values.iter().map(|v| ("content-length", *v)).collect();
            assert_eq!(ContentLength::from_headers(&headers(&fields)), *expected, "{values:?}");
        }
    }

    #[test]
    fn transfer_encoding_overrides_the_field() {
        for coding in ["chunked", "gzip, chunked", "identity", ""] {
            let map =
                headers(&[("content-length", b"3"), ("transfer-encoding", coding.as_bytes())]);
            assert_eq!(ContentLength::from_headers(&map), Unknown, "{coding:?}");
        }
    }

    #[test]
    fn content_coding_makes_a_hint() {
        let table: &[(&[&[u8]], ContentLength)] = &[
            (&[b"gzip"], Hint(3)),
            (&[b"GZIP"], Hint(3)),
            (&[b"identity, br"], Hint(3)),
            (&[b"identity", b"zstd"], Hint(3)),
            (&[b"\xff"], Hint(3)),
            (&[b"identity"], Exact(3)),
            (&[b"Identity , IDENTITY"], Exact(3)),
            (&[b""], Exact(3)),
            (&[b" , "], Exact(3)),
        ];
        for (codings, expected) in table {
            let mut fields: Vec<(&'static str, &[u8])> = vec![("content-length", b"3")];
            fields.extend(codings.iter().map(|v| ("content-encoding", *v)));
            assert_eq!(ContentLength::from_headers(&headers(&fields)), *expected, "{codings:?}");
        }
        let bad = headers(&[("content-length", b"x"), ("content-encoding", b"gzip")]);
        assert_eq!(ContentLength::from_headers(&bad), Invalid);
    }

    #[test]
    fn method_and_status() {
        let table = [
            (Method::GET, 200, Exact(3501)),
            (Method::POST, 201, Exact(3501)),
            (Method::GET, 205, Exact(3501)),
            (Method::GET, 404, Exact(3501)),
            (Method::HEAD, 200, Exact(0)),
            (Method::HEAD, 404, Exact(0)),
            (Method::GET, 100, Exact(0)),
            (Method::GET, 103, Exact(0)),
            (Method::GET, 204, Exact(0)),
            (Method::GET, 304, Exact(0)),
            (Method::CONNECT, 200, Unknown),
            (Method::CONNECT, 204, Exact(0)),
            (Method::CONNECT, 407, Exact(3501)),
        ];
        for (method, status, expected) in table {
            let (head, ()) = Response::builder()
                .status(status)
                .header("content-length", "3501")
                .body(())
                .unwrap()
                .into_parts();
            assert_eq!(ContentLength::of_response(&method, &head), expected, "{method} {status}");
        }
    }

    #[test]
    fn no_content_outranks_transfer_encoding() {
        let (head, ()) = Response::builder()
            .header("transfer-encoding", "chunked")
            .body(())
            .unwrap()
            .into_parts();
        assert_eq!(ContentLength::of_response(&Method::HEAD, &head), Exact(0));
    }
}
