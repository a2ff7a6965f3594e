//! The length of a string in JSON, and strings cut to such a length.

/// Returns the beginning of `text` that takes at most `max` bytes in JSON.
///
/// A text that is cut ends in an ellipsis.
pub(crate) fn cut(text: &str, max: usize) -> String {
    const ELLIPSIS: char = '\u{2026}';
    if len(text) <= max {
        return text.to_owned();
    }
    let mut room = max.saturating_sub(ELLIPSIS.len_utf8());
    let fits = |c: &char| {
        let left = room.checked_sub(char_len(*c));
        room = left.unwrap_or(0);
        left.is_some()
    };
    text.chars().take_while(fits).chain([ELLIPSIS]).collect()
}

/// Returns JSON in the characters of a header, if that takes at most `max` bytes.
///
/// Other characters stand in strings only, where an escape means the same (RFC 8259, section 7), and
/// line breaks between tokens only.
pub(super) fn to_ascii(json: &[u8], max: usize) -> Option<String> {
    let json = std::str::from_utf8(json).ok().filter(|json| json.len() <= max)?;
    let mut ascii = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\r' | '\n' => ascii.push(' '),
            _ if c.is_ascii() => ascii.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    ascii.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    (ascii.len() <= max).then_some(ascii)
}

/// Returns the bytes that a text takes in JSON, without its quotes.
pub(super) fn len(text: &str) -> usize {
    text.chars().map(char_len).sum()
}

/// Returns the bytes that serde_json writes for a character (RFC 8259, section 7).
fn char_len(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\x08' | '\x0c' => 2,
        '\0'..'\x20' => 6,
        _ => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_that_of_serde_json() {
        let text: String = ('\0'..'\u{100}').chain(['\u{540d}', '\u{1f34e}']).collect();
        assert_eq!(len(&text) + 2, serde_json::to_string(&text).unwrap().len());
    }

    #[test]
    fn text_is_cut_between_characters_and_marked() {
        let table = [
            ("abcdef", 6, "abcdef"),
            ("abcdefg", 6, "abc\u{2026}"),
            ("\u{e9}\u{e9}\u{e9}", 5, "\u{e9}\u{2026}"),
        ];
        for (text, max, expected) in table {
            assert_eq!(cut(text, max), expected);
        }
    }
}
