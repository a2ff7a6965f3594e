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
    /// The body has this many bytes. A body with fewer bytes is truncated. [`u64::MAX`] also stands
    /// for every larger number.
    Exact(u64),
    /// A number that may differ from the delivered bytes, such as the coded length of a body that
    /// is decoded. It guides the first reservation and never causes an error.
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
    /// - A value consists of digits only (RFC 9110 §8.6). A number of 2^64 or more counts as
    ///   [`u64::MAX`], so that any lower limit refuses the body.
    /// - A value that is repeated, on several lines or in a list, counts once.
    /// - Any conflict and any invalid member make the field `Invalid`.
    /// - Transfer-Encoding overrides the field (RFC 9112 §6.3 rule 3): `Unknown`.
    /// - With a Content-Encoding other than `identity` the number counts coded bytes: `Hint`.
    pub fn from_headers(headers: &HeaderMap) -> Self {
        if headers.contains_key(TRANSFER_ENCODING) {
            return Self::Unknown;
        }
        let mut digits = None;
        for value in headers.get_all(CONTENT_LENGTH) {
            for member in value.as_bytes().split(|&byte| byte == b',') {
                match (significant_digits(trim_ows(member)), digits) {
                    (Some(found), None) => digits = Some(found),
                    // Numbers that do not fit into a `u64` are compared too.
                    (Some(found), Some(earlier)) if found == earlier => {}
                    _ => return Self::Invalid,
                }
            }
        }
        match digits.map(saturating_number) {
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

/// Returns whether a response to a `method` request has no content by its head alone (RFC 9112 §6.3
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

/// Returns the digits of `1*DIGIT` without leading zeros. Everything else is no number:
/// `u64::from_str` would accept a leading plus (CVE-2021-32715).
fn significant_digits(digits: &[u8]) -> Option<&[u8]> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    Some(&digits[zeros..])
}

/// Returns the number, or the largest `u64` for a larger number. RFC 9110 §8.6 asks a recipient to
/// expect large numbers. To wrap or to ignore them would accept a body that is too large.
fn saturating_number(digits: &[u8]) -> u64 {
    digits.iter().fold(0_u64, |number, digit| {
        number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
    })
}

/// Trims SP and HTAB (RFC 9110 §5.6.3). `trim_ascii` would trim more.
fn trim_ows(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// Returns whether a content coding was applied. Codings are case-insensitive, and empty members of
/// the list are ignored (RFC 9110 §8.4, §5.6.1).
fn is_coded(headers: &HeaderMap) -> bool {
    headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
        .map(trim_ows)
        .any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
}

#[cfg(test)]
mod tests;
