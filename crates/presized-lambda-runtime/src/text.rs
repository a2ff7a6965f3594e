//! A string of an event, borrowed from it where it has no escapes.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use bytes::Bytes;
use serde::de::{Deserialize, Deserializer, Visitor};

/// A string that is borrowed from the event if it has no escapes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text<'a>(Cow<'a, str>);

impl Text<'_> {
    /// Returns the bytes of the string. They are a part of `event` if the string is borrowed from it.
    pub(crate) fn into_bytes(self, event: &Bytes) -> Bytes {
        match self.0 {
            Cow::Borrowed(text) => event.slice_ref(text.as_bytes()),
            Cow::Owned(text) => text.into(),
        }
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

/// Takes a string.
pub(crate) struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_escapes_is_a_part_of_the_event() {
        let event = Bytes::from(r#"["plain","","a \"quote\""]"#);
        let texts: Vec<Text<'_>> = serde_json::from_slice(&event).unwrap();
        let table = [("plain", true), ("", false), ("a \"quote\"", false)];
        for (text, (expected, is_part)) in texts.into_iter().zip(table) {
            let bytes = text.into_bytes(&event);
            assert_eq!(bytes, expected);
            assert_eq!(event.as_ptr_range().contains(&bytes.as_ptr()), is_part, "{expected:?}");
        }
    }
}
