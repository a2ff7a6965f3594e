//! The query of a request, and percent-encoding (RFC 3986, section 2.1).

use super::HttpSource;
use super::event::Event;
use super::pairs::Pairs;

/// Appends the query of the event, with its question mark, if there is one.
pub(super) fn push_query(uri: &mut String, event: &Event<'_>, source: HttpSource) {
    if let Some(query) = event.raw_query_string.as_ref() {
        if !query.is_empty() {
            uri.push('?');
            push(uri, query, is_query);
        }
        return;
    }
    // Each name of one is in the other as well, with its last value.
    let several = event.multi_value_query_string_parameters.as_ref();
    let several = several.filter(|Pairs(pairs)| !pairs.is_empty());
    let Some(Pairs(pairs)) = several.or(event.query_string_parameters.as_ref()) else { return };
    // API Gateway decodes names and values. A load balancer passes them on as they came.
    let is_allowed = match source {
        HttpSource::LoadBalancer => is_encoded_part,
        _ => is_unreserved,
    };
    let mut separator = '?';
    for (name, value) in pairs {
        uri.push(separator);
        separator = '&';
        push(uri, name, is_allowed);
        uri.push('=');
        push(uri, value, is_allowed);
    }
}

/// Appends a text and encodes all bytes that are not allowed.
pub(super) fn push(uri: &mut String, text: &str, is_allowed: fn(u8) -> bool) {
    let mut rest = text;
    while let Some(position) = rest.bytes().position(|byte| !is_allowed(byte)) {
        let (plain, encoded) = rest.split_at(position);
        uri.push_str(plain);
        // The first character may have several bytes, none of which is allowed.
        let mut characters = encoded.chars();
        let mut buffer = [0; 4];
        for byte in characters.next().unwrap_or_default().encode_utf8(&mut buffer).bytes() {
            uri.push('%');
            for digit in [byte >> 4, byte & 15] {
                uri.push(char::from(HEX[usize::from(digit)]));
            }
        }
        rest = characters.as_str();
    }
    uri.push_str(rest);
}

/// Returns whether a path may contain the byte. A percent sign is taken for a part of an encoded byte.
pub(super) fn is_path(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(
            byte,
            b'"' | b'#' | b'<' | b'>' | b'?' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}'
        )
}

fn is_query(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'#' | b'<' | b'>')
}

/// Returns whether a name or a value that is encoded may contain the byte.
fn is_encoded_part(byte: u8) -> bool {
    is_query(byte) && byte != b'&'
}

/// RFC 3986, section 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_allowed_are_encoded() {
        type Allowed = fn(u8) -> bool;
        let table: [(&str, Allowed, &str); 6] = [
            ("/a/b%20c", is_path, "/a/b%20c"),
            ("/a b?c#d", is_path, "/a%20b%3Fc%23d"),
            ("/\u{e9}\u{1f34e}/", is_path, "/%C3%A9%F0%9F%8D%8E/"),
            ("a=b&c=%3F?", is_query, "a=b&c=%3F?"),
            ("a&b=c%3Fd", is_encoded_part, "a%26b=c%3Fd"),
            ("a&b=c d+e%", is_unreserved, "a%26b%3Dc%20d%2Be%25"),
        ];
        for (text, is_allowed, expected) in table {
            let mut uri = String::new();
            push(&mut uri, text, is_allowed);
            assert_eq!(uri, expected);
        }
    }
}
