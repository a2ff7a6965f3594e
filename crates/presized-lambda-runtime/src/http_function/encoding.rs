//! The body of a response as a string in JSON: text, or base64.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

/// Returns the body if it is sent as text: it is UTF-8, not encoded, and of a type that is text.
pub(super) fn text_of<'a>(headers: &HeaderMap, body: &'a [u8]) -> Option<&'a str> {
    let is_text = match headers.get(CONTENT_TYPE) {
        _ if headers.contains_key(CONTENT_ENCODING) => false,
        None => true,
        Some(content_type) => content_type.to_str().is_ok_and(is_text_type),
    };
    // An empty body is the same in both forms.
    if is_text || body.is_empty() { std::str::from_utf8(body).ok() } else { None }
}

/// Returns whether a content type is one of those that `lambda_http` sends as text.
fn is_text_type(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim_ascii();
    let has_prefix = |prefix: &str| {
        media_type.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
    };
    let has_suffix = |suffix: &str| {
        let begin = media_type.len().checked_sub(suffix.len());
        let end = begin.and_then(|begin| media_type.get(begin..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    };
    TEXT_PREFIXES.into_iter().any(has_prefix) || TEXT_SUFFIXES.into_iter().any(has_suffix)
}

/// Returns the bytes that a text takes in JSON at most, without its quotes.
///
/// Only control characters other than line breaks and tabs take fewer. A loop without branches over
/// bytes is vectorised, so that it costs less than a second buffer.
pub(super) fn escaped_len(text: &str) -> usize {
    let more = |byte: u8| {
        let is_two = byte == b'"' || byte == b'\\';
        let is_break = byte == b'\n' || byte == b'\r' || byte == b'\t';
        u8::from(is_two) + u8::from(is_break) + 5 * u8::from(byte < b' ' && !is_break)
    };
    // A block of 51 bytes adds at most 255, which is the most of a byte.
    let blocks = text.as_bytes().chunks(51);
    let more: usize =
        blocks.map(|block| usize::from(block.iter().map(|byte| more(*byte)).sum::<u8>())).sum();
    text.len() + more
}

/// Writes bytes in base64, piece by piece, so that they need no buffer of their length.
pub(super) fn write_base64(json: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let mut buffer = [0; 4 * PIECE / 3];
    for piece in bytes.chunks(PIECE) {
        let len = STANDARD.encode_slice(piece, &mut buffer).map_err(io::Error::other)?;
        json.write_all(&buffer[..len])?;
    }
    Ok(())
}

/// A multiple of three, so that only the last piece is padded.
const PIECE: usize = 3 << 10;

const TEXT_PREFIXES: [&str; 5] =
    ["text", "application/json", "application/javascript", "application/xml", "application/yaml"];

const TEXT_SUFFIXES: [&str; 3] = ["+xml", "+yaml", "+json"];

#[cfg(test)]
mod tests {
    use http::header::HeaderValue;

    use super::*;

    #[test]
    fn text_is_told_by_type_encoding_and_content() {
        let table: [(&str, &str, &[u8], bool); 14] = [
            ("", "", b"a", true),
            ("", "", b"\xff", false),
            ("", "gzip", b"a", false),
            ("", "gzip", b"", true),
            ("text/html; charset=utf-8", "", b"a", true),
            ("text/plain; charset=iso-8859-1", "", b"\xe9", false),
            ("TEXT/css", "", b"a", true),
            ("application/json", "", b"a", true),
            ("application/json", "br", b"a", false),
            ("application/problem+json; a=b", "", b"a", true),
            ("image/svg+xml", "", b"a", true),
            ("image/png", "", b"a", false),
            ("application/octet-stream", "", b"a", false),
            ("+json", "", b"a", true),
        ];
        for (content_type, content_encoding, body, expected) in table {
            let mut headers = HeaderMap::new();
            for (name, value) in
                [(CONTENT_TYPE, content_type), (CONTENT_ENCODING, content_encoding)]
            {
                if !value.is_empty() {
                    headers.insert(name, HeaderValue::from_static(value));
                }
            }
            let text = text_of(&headers, body);
            assert_eq!(text.is_some(), expected, "{content_type} {content_encoding} {body:?}");
        }
    }

    #[test]
    fn escaped_length_is_exact_without_backspace_and_form_feed() {
        let rest = ('\0'..'\u{100}').filter(|c| !matches!(c, '\u{8}' | '\u{c}'));
        let all: String = rest.chain(['\u{540d}', '\u{1f34e}']).collect();
        for text in ["", "plain", &all, &all.repeat(100), &"\u{1}".repeat(1000)] {
            assert_eq!(escaped_len(text) + 2, serde_json::to_string(text).unwrap().len());
        }
        assert_eq!(escaped_len("\u{8}\u{c}"), 12);
    }

    #[test]
    fn base64_is_padded_at_its_end_only() {
        for len in [0, 1, 2, 3, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 2] {
            let bytes: Vec<u8> = (0..len).map(|number| number as u8).collect();
            let mut written = Vec::new();
            write_base64(&mut written, &bytes).unwrap();
            assert_eq!(written, STANDARD.encode(&bytes).into_bytes(), "{len} bytes");
        }
    }
}
