//! An object of strings in an event: its headers, or its query.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::text::{Text, TextVisitor};

/// The members of an object whose values are strings or arrays of strings, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs<'a>(pub(super) Vec<(Text<'a>, Text<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of strings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Pairs<'de>, A::Error> {
        let mut pairs = Vec::with_capacity(EXPECTED_MEMBERS);
        while let Some(name) = members.next_key::<Text<'de>>()? {
            match members.next_value()? {
                Values::None => {}
                Values::One(value) => pairs.push((name, value)),
                Values::Several(values) => {
                    pairs.extend(values.into_iter().map(|value| (name.clone(), value)));
                }
            }
        }
        Ok(Pairs(pairs))
    }
}

/// The value of a member of [`Pairs`].
enum Values<'a> {
    None,
    One(Text<'a>),
    Several(Vec<Text<'a>>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Values<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValuesVisitor)
    }
}

struct ValuesVisitor;

impl<'de> Visitor<'de> for ValuesVisitor {
    type Value = Values<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, an array of strings or null")
    }

    fn visit_unit<E: Error>(self) -> Result<Values<'de>, E> {
        Ok(Values::None)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Values<'de>, E> {
        TextVisitor.visit_borrowed_str(text).map(Values::One)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Values<'de>, E> {
        TextVisitor.visit_str(text).map(Values::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Values<'de>, A::Error> {
        // Most headers have one value, which needs no vector.
        let Some(first) = elements.next_element()? else { return Ok(Values::None) };
        let Some(second) = elements.next_element()? else { return Ok(Values::One(first)) };
        let mut values = vec![first, second];
        while let Some(value) = elements.next_element()? {
            values.push(value);
        }
        Ok(Values::Several(values))
    }
}

/// The headers of a typical request.
const EXPECTED_MEMBERS: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_keep_order_and_all_values() {
        let json = r#"{"b":"1","a":["2","3"],"none":null,"empty":[],"c":["4"],"d":["5","6","7"]}"#;
        let Pairs(pairs) = serde_json::from_str(json).unwrap();
        let pairs: Vec<_> =
            pairs.iter().map(|(name, value)| format!("{}{}", &**name, &**value)).collect();
        assert_eq!(pairs, ["b1", "a2", "a3", "c4", "d5", "d6", "d7"]);
    }
}
