//! The canonical form of a request, which is what SigV4 signs.
//!
//! Pure, and written into the caller's buffer. The form is that of
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>, for
//! every service but S3.

use std::borrow::Cow;
use std::cmp::Ordering;

use http::{HeaderMap, HeaderName};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

/// What is signed of a request beside its headers.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    /// As [`path`] has made it.
    pub(super) path: &'a str,
    /// As [`push_query`] has made it.
    pub(super) query: &'a str,
    /// Of SHA-256, as lowercase hex digits.
    pub(super) payload_hash: &'a [u8],
}

impl Request<'_> {
    /// Appends the canonical request with these of `headers`, which are sorted.
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

/// The names of the headers that are signed, sorted.
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

/// Appends what the signature is of: the canonical request, by its hash in hex digits.
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

/// The canonical path for a path as it is sent: normalized and encoded once more, so that the `:`
/// of an ARN is `%3A` on the wire and `%253A` here.
pub(super) fn path(sent: &str) -> String {
    encoded_path(&normalized(sent))
}

pub(super) fn encoded_path(path: &str) -> String {
    let path = utf8_percent_encode(path, RESERVED_BUT_SLASH);
    let mut encoded = String::with_capacity(encoded_len(&path));
    encoded.extend(path);
    encoded
}

/// Appends a query that is canonical and can be sent as it is.
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

/// What a path segment, or the name or value of a parameter, is on the wire.
pub(super) fn encode(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, RESERVED)
}

pub(super) fn encoded_len(encoded: &PercentEncode<'_>) -> usize {
    encoded.clone().map(str::len).sum()
}

/// Without dot segments (RFC 3986 §5.2.4) and, which only SigV4 asks for, without empty ones.
fn normalized(path: &str) -> Cow<'_, str> {
    if path.starts_with('/') && !path.contains("//") && !path.contains("/.") {
        return Cow::Borrowed(path);
    }
    let mut segments = Vec::new();
    // Whether what the path ends in is a folder, as `/a/` and `/a/.` are and `/a` is not.
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

/// Without blanks at its ends, and one where several were between two words.
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

/// All of ASCII but the unreserved characters of RFC 3986 §2.3, the only ones that SigV4 leaves as
/// they are.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const RESERVED_BUT_SLASH: &AsciiSet = &RESERVED.remove(b'/');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_normalized() {
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
            // Dots that are not a whole segment.
            ("/.a/b../...", "/.a/b../..."),
            ("/a%2F..%2Fb", "/a%252F..%252Fb"),
        ] {
            assert_eq!(path(sent), canonical, "{sent}");
        }
    }

    #[test]
    fn parameters_are_sorted_as_they_are_encoded() {
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
    fn runs_of_blanks_in_a_value_become_one() {
        for (value, expected) in
            [("", ""), ("  ", ""), (" a ", "a"), ("a  b   c", "a b c"), ("a\t\tb", "a\t\tb")]
        {
            let mut out = Vec::new();
            push_value(value.as_bytes(), &mut out);
            assert_eq!(out, expected.as_bytes());
        }
    }
}
