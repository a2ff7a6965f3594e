//! What a message head says about the length of its content, and how far that is believed.
//!
//! Pure: a head goes in, one of four outcomes comes out. What is reserved for it is
//! decided in `reserve.rs`.

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING};
use http::{Method, StatusCode, response};
use http_body::SizeHint;

/// What is known about the length of a body before it is read, in bytes.
///
/// These four are all there will be. An `Option<u64>` converts into it, so that a caller who
/// has read the header already can pass what is known:
///
/// ```
/// use presized::ContentLength;
///
/// assert_eq!(ContentLength::from(Some(42)), ContentLength::Exact(42));
/// assert_eq!(ContentLength::from(None), ContentLength::Unknown);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContentLength {
    /// Nothing is said: the field is absent, or Transfer-Encoding overrides it.
    #[default]
    Unknown,
    /// The body has this many bytes; fewer is a truncated message.
    Exact(u64),
    /// A number that was counted on something else than what is delivered (the
    /// coded form of a decoded body). It guides the first reservation and can
    /// never cause an error.
    Hint(u64),
    /// The field is there and is not a length. It is read as [`Unknown`], and is
    /// told apart so that a caller can refuse the message as RFC 9112 §6.3 asks
    /// of a client that does the framing itself.
    ///
    /// [`Unknown`]: ContentLength::Unknown
    Invalid,
}

impl ContentLength {
    /// What the head of a response to a `method` request says of its content.
    ///
    /// Responses to HEAD, and those with status 1xx, 204 or 304, have no content
    /// whatever the field says (RFC 9112 §6.3 rule 1): `Exact(0)`. What follows a
    /// successful answer to CONNECT is a tunnel and not a message (rule 2):
    /// `Unknown`. Everything else is [`from_headers`](Self::from_headers).
    pub fn of(method: &Method, head: &response::Parts) -> Self {
        if has_no_content(method, head) {
            return Self::Exact(0);
        }
        if method == Method::CONNECT && head.status.is_success() {
            return Self::Unknown;
        }
        Self::from_headers(&head.headers)
    }

    /// What the header fields of a message that may have content say of its length.
    ///
    /// Every value of Content-Length is read. Digits only (RFC 9110 §8.6), checked
    /// as `u64`; repeats of one decimal value, on lines of their own or in a list,
    /// are that value; any conflict and any bad member make the field `Invalid`.
    /// With Transfer-Encoding the field is not read at all (RFC 9112 §6.3 rule 3).
    /// With a Content-Encoding other than `identity` the number counts coded bytes
    /// and is a `Hint`.
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

    /// What to go by for a body with this size hint, and the length that it has declared at
    /// the least, in bytes.
    pub(crate) fn believed(self, hint: SizeHint) -> (Self, u64) {
        let length = match (hint.exact(), self) {
            // The transport has applied the framing rules to the whole message.
            (Some(exact), _) => Self::Exact(exact),
            (None, Self::Exact(_) | Self::Hint(_)) => self,
            (None, _) if hint.lower() == 0 => self,
            (None, _) => Self::Hint(hint.lower()),
        };
        match length {
            Self::Exact(declared) => (length, declared.max(hint.lower())),
            // Coded bytes say nothing about what is delivered, the body itself does.
            _ => (length, hint.lower()),
        }
    }

    /// The number, exact or not, in bytes.
    pub fn value(self) -> Option<u64> {
        match self {
            Self::Exact(number) | Self::Hint(number) => Some(number),
            Self::Unknown | Self::Invalid => None,
        }
    }
}

/// Whether a response to a `method` request has no content by its head alone (RFC 9112 §6.3
/// rule 1, RFC 9110 §9.3.2).
///
/// No size hint outranks that: in HTTP/2 such a response can end in a frame of its own, and until
/// that has come hyper gives the body the size that Content-Length says.
pub(crate) fn has_no_content(method: &Method, head: &response::Parts) -> bool {
    method == Method::HEAD
        || head.status.is_informational()
        || matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

impl From<Option<u64>> for ContentLength {
    fn from(length: Option<u64>) -> Self {
        length.map_or(Self::Unknown, Self::Exact)
    }
}

/// What it means when the length a body was declared to have turns out to be wrong.
///
/// It is about [`ContentLength::Exact`]; a [`Hint`](ContentLength::Hint) can never be
/// wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// A shorter body is an error, since bytes are missing (RFC 9112 §8). A longer one is
    /// read on up to the limit, since the number then described something else, such as
    /// the coded form; [`CollectStats::is_longer`](crate::CollectStats::is_longer) tells.
    #[default]
    RejectShorter,
    /// Both are errors.
    Reject,
    /// Neither is an error; [`CollectStats`](crate::CollectStats) tells. A transport that enforces the length
    /// itself, as hyper does, still fails a shorter body.
    Allow,
}

/// `1*DIGIT` and nothing else: `u64::from_str` takes a leading plus (CVE-2021-32715).
fn parse_digits(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// Optional white space is SP and HTAB (RFC 9110 §5.6.3), which is less than what
/// `trim_ascii` takes.
fn trim_ows(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// Whether a content coding was applied. Codings are case-insensitive and come as a
/// list in which empty members mean nothing (RFC 9110 §8.4, §5.6.1).
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
            assert_eq!(ContentLength::of(&method, &head), expected, "{method} {status}");
        }
    }

    #[test]
    fn size_hint_is_believed_first() {
        let hint = |lower, upper: Option<u64>| {
            let mut hint = SizeHint::new();
            hint.set_lower(lower);
            upper.into_iter().for_each(|upper| hint.set_upper(upper));
            hint
        };
        let table = [
            // said, size hint, believed, declared at the least
            (Unknown, hint(0, None), Unknown, 0),
            (Invalid, hint(0, None), Invalid, 0),
            (Exact(5), hint(0, None), Exact(5), 5),
            (Hint(5), hint(0, None), Hint(5), 0),
            (Unknown, hint(7, Some(7)), Exact(7), 7),
            (Invalid, hint(7, Some(7)), Exact(7), 7),
            (Exact(5), hint(7, Some(7)), Exact(7), 7),
            (Hint(5), hint(7, Some(7)), Exact(7), 7),
            (Exact(5), hint(0, Some(0)), Exact(0), 0),
            (Unknown, hint(7, None), Hint(7), 7),
            (Invalid, hint(7, Some(9)), Hint(7), 7),
            (Exact(5), hint(7, None), Exact(5), 7),
            (Hint(5), hint(7, None), Hint(5), 7),
            (Unknown, hint(0, Some(9)), Unknown, 0),
            (Exact(u64::MAX), hint(0, None), Exact(u64::MAX), u64::MAX),
        ];
        for (said, hint, believed, declared) in table {
            assert_eq!(said.believed(hint), (believed, declared), "{said:?} {hint:?}");
        }
    }

    #[test]
    fn no_content_outranks_transfer_encoding() {
        let (head, ()) = Response::builder()
            .header("transfer-encoding", "chunked")
            .body(())
            .unwrap()
            .into_parts();
        assert_eq!(ContentLength::of(&Method::HEAD, &head), Exact(0));
    }
}
