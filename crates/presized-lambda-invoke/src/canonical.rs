//! The canonical form of a request, which SigV4 signs
//! (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>), for
//! every service but S3.
//!
//! It is pure, and it writes into a buffer of the caller.

use std::borrow::Cow;
use std::cmp::Ordering;

use http::{HeaderMap, HeaderName};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

/// The signed parts of a request, except its headers.
#[derive(Clone, Copy)]
pub(super) struct CanonicalRequest<'a> {
    pub(super) method: &'a str,
    /// The result of [`path`].
    pub(super) path: &'a str,
    /// The result of [`push_query`].
    pub(super) query: &'a str,
    /// The SHA-256 of the payload in lowercase hex digits.
    pub(super) payload_hash: &'a [u8],
}

impl CanonicalRequest<'_> {
    /// Appends the canonical request with the headers named in `signed`, which must be sorted.
    pub(super) fn push(&self, headers: &HeaderMap, signed: &[&HeaderName], out: &mut Vec<u8>) {
        for line in [self.method, self.path, self.query] {
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
        for name in signed {
            out.extend_from_slice(name.as_str().as_bytes());
            let mut before = b':';
            for value in headers.get_all(*name) {
                out.push(before);
                push_value(value.as_bytes(), out);
                before = b',';
            }
            out.push(b'\n');
        }
        out.push(b'\n');
        push_names(signed, out);
        out.push(b'\n');
        out.extend_from_slice(self.payload_hash);
    }
}

/// Returns the names of the signed headers, sorted.
pub(super) fn signed_headers(
    headers: &HeaderMap,
    is_signed: fn(&HeaderName) -> bool,
) -> Vec<&HeaderName> {
    let mut names = Vec::with_capacity(headers.keys_len());
    names.extend(headers.keys().filter(|name| is_signed(name)));
    names.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
    names
}

/// Appends the list of signed headers.
pub(super) fn push_names(signed: &[&HeaderName], out: &mut Vec<u8>) {
    for (i, name) in signed.iter().enumerate() {
        if i > 0 {
            out.push(b';');
        }
        out.extend_from_slice(name.as_str().as_bytes());
    }
}

/// Appends the string to sign, which has the hash of the canonical request in hex digits.
pub(super) fn push_string_to_sign(
    date: &[u8],
    scope: &str,
    request_hash: &[u8],
    out: &mut Vec<u8>,
) {
    for line in [ALGORITHM.as_bytes(), date, scope.as_bytes()] {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out.extend_from_slice(request_hash);
}

/// Returns the canonical path of a path as it is sent: normalized and encoded once more. The `:` of
/// an ARN is `%3A` on the wire and `%253A` here.
pub(super) fn path(sent: &str) -> String {
    encoded_path(&normalized(sent))
}

pub(super) fn encoded_path(path: &str) -> String {
    let path = utf8_percent_encode(path, RESERVED_BUT_SLASH);
    let mut encoded = String::with_capacity(encoded_len(&path));
    encoded.extend(path);
    encoded
}

/// Appends a query in canonical form, which is also the form on the wire.
pub(super) fn push_query(parameters: &mut [(&str, &str)], out: &mut String) {
    parameters
        .sort_unstable_by(|a, b| encoded_order(a.0, b.0).then_with(|| encoded_order(a.1, b.1)));
    for (i, (name, value)) in parameters.iter().enumerate() {
        if i > 0 {
            out.push('&');
        }
        out.extend(encode(name));
        out.push('=');
        out.extend(encode(value));
    }
}

/// Encodes a path segment, or the name or value of a query parameter, for the wire.
pub(super) fn encode(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, RESERVED)
}

pub(super) fn encoded_len(encoded: &PercentEncode<'_>) -> usize {
    encoded.clone().map(str::len).sum()
}

/// Removes dot segments (RFC 3986, section 5.2.4) and empty segments, which SigV4 requires.
fn normalized(path: &str) -> Cow<'_, str> {
    if path.starts_with('/') && !path.contains("//") && !path.contains("/.") {
        return Cow::Borrowed(path);
    }
    let mut segments = Vec::new();
    // The path ends in a folder, as `/a/` and `/a/.` do and `/a` does not.
    let mut ends_in_slash = true;
    for segment in path.split('/') {
        ends_in_slash = matches!(segment, "" | "." | "..");
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(segment),
        }
    }
    let mut normalized = String::with_capacity(path.len() + 1);
    for segment in &segments {
        normalized.push('/');
        normalized.push_str(segment);
    }
    if ends_in_slash {
        normalized.push('/');
    }
    Cow::Owned(normalized)
}

/// Appends a header value without spaces at its ends, and with one space between two words.
fn push_value(value: &[u8], out: &mut Vec<u8>) {
    let mut words = value.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    out.extend_from_slice(words.next().unwrap_or_default());
    for word in words {
        out.push(b' ');
        out.extend_from_slice(word);
    }
}

fn encoded_order(a: &str, b: &str) -> Ordering {
    encode(a).flat_map(str::bytes).cmp(encode(b).flat_map(str::bytes))
}

pub(super) const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// All ASCII characters except the unreserved ones (RFC 3986, section 2.3), which SigV4 does not
/// encode.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const RESERVED_BUT_SLASH: &AsciiSet = &RESERVED.remove(b'/');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_normalized() {
        for (sent, canonical) in [
            ("", "/"),
            ("/", "/"),
            ("/a", "/a"),
            ("/a/", "/a/"),
            ("a", "/a"),
            ("//a//b//", "/a/b/"),
            ("/.", "/"),
            ("/..", "/"),
            ("/a/.", "/a/"),
            ("/a/b/..", "/a/"),
            ("/a/../../b", "/b"),
            ("/a/./b/../c", "/a/c"),
            // These dots are not a whole segment.
            ("/.a/b../...", "/.a/b../..."),
            ("/a%2F..%2Fb", "/a%252F..%252Fb"),
        ] {
            assert_eq!(path(sent), canonical, "{sent}");
        }
    }

    #[test]
    fn parameters_are_sorted_by_their_encoded_form() {
        for (parameters, expected) in [
            (&mut [("b", "1"), ("a", "2")][..], "a=2&b=1"),
            (&mut [("a", "2"), ("a", "10"), ("a", "")], "a=&a=10&a=2"),
            // `|` is above `z`, `%7C` below it.
            (&mut [("z", ""), ("|", "")], "%7C=&z="),
            (&mut [("a", "z"), ("a", "|")], "a=%7C&a=z"),
            (&mut [("Qualifier", "$LATEST")], "Qualifier=%24LATEST"),
            (&mut [("a b+c", "d&e=f")], "a%20b%2Bc=d%26e%3Df"),
            (&mut [], ""),
        ] {
            let mut query = String::new();
            push_query(parameters, &mut query);
            assert_eq!(query, expected);
        }
    }

    #[test]
    fn spaces_in_a_header_value_are_collapsed() {
        for (value, expected) in [
            (&b""[..], &b""[..]),
            (b"  ", b""),
            (b" a ", b"a"),
            (b"a  b   c", b"a b c"),
            (b"a\t\tb", b"a\t\tb"),
            // Bytes that are not UTF-8.
            (b" \xff  \xfe ", b"\xff \xfe"),
        ] {
            let mut out = Vec::new();
            push_value(value, &mut out);
            assert_eq!(out, expected);
        }
    }
}
