//! Implements `_fields`, the parameter that selects which keys a response contains.

use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;
use shell::EntityTag;

/// A JSON value that preserves key order.
#[derive(Clone, Debug, PartialEq)]
enum Ordered {
    Null,
    Flag(bool),
    Number(Number),
    Text(String),
    List(Vec<Ordered>),
    Object(Vec<(String, Ordered)>),
}

/// Serializes a response, keeping only the keys selected by `keys`.
///
/// # Errors
/// Returns an error if the value cannot be serialized.
pub fn written<T: Serialize>(value: &T, keys: Option<&str>) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(value)?;
    match keys {
        Some(keys) => cut(&json, keys),
        None => Ok(json),
    }
}

/// Computes a response's entity tag.
pub fn tag(json: &str) -> EntityTag {
    let mut hasher = DefaultHasher::new();
    hasher.write(json.as_bytes());
    EntityTag::of_digest(&hasher.finish().to_be_bytes())
}

/// Reduces a JSON document to the selected keys. Dots select keys within nested objects and list
/// items.
pub fn cut(json: &str, fields: &str) -> Result<String, serde_json::Error> {
    let paths: Vec<Vec<&str>> = fields
        .split(',')
        .map(str::trim)
        .filter(|path| !path.is_empty())
        .map(|path| path.split('.').collect())
        .collect();
    if paths.is_empty() {
        return Ok(json.to_owned());
    }
    let paths: Vec<&[&str]> = paths.iter().map(Vec::as_slice).collect();
    let value: Ordered = serde_json::from_str(json)?;
    serde_json::to_string(&value.cut(&paths))
}

impl Ordered {
    fn cut(self, paths: &[&[&str]]) -> Ordered {
        match self {
            Ordered::List(items) => {
                Ordered::List(items.into_iter().map(|item| item.cut(paths)).collect())
            }
            Ordered::Object(members) => Ordered::Object(
                members.into_iter().filter_map(|(key, value)| member(key, value, paths)).collect(),
            ),
            other => other,
        }
    }
}

fn member(key: String, value: Ordered, paths: &[&[&str]]) -> Option<(String, Ordered)> {
    let deeper: Vec<&[&str]> = paths
        .iter()
        .filter_map(|path| path.split_first())
        .filter(|(first, _)| **first == key)
        .map(|(_, rest)| rest)
        .collect();
    if deeper.is_empty() {
        return None;
    }
    let whole = deeper.iter().any(|rest| rest.is_empty());
    let value = if whole { value } else { value.cut(&deeper) };
    Some((key, value))
}

impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Ordered::Null => serializer.serialize_unit(),
            Ordered::Flag(flag) => serializer.serialize_bool(*flag),
            Ordered::Number(number) => number.serialize(serializer),
            Ordered::Text(text) => serializer.serialize_str(text),
            Ordered::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Ordered::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OrderedVisitor)
    }
}

struct OrderedVisitor;

impl<'de> Visitor<'de> for OrderedVisitor {
    type Value = Ordered;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Ordered, E> {
        Ok(Ordered::Flag(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Ordered, E> {
        Ok(Ordered::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Ordered, E> {
        Ok(Ordered::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Ordered, E> {
        Ok(Number::from_f64(value).map_or(Ordered::Null, Ordered::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Ordered, E> {
        Ok(Ordered::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Ordered, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Ordered::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Ordered::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_keys_keep_their_order() {
        let json =
            r#"{"events":[{"id":1,"venue":{"id":2,"city":"Graz"},"x":0.5}],"total":1,"z":null}"#;
        for (fields, cut_down) in [
            ("total", r#"{"total":1}"#),
            ("total, events.id", r#"{"events":[{"id":1}],"total":1}"#),
            ("events.venue.city,z", r#"{"events":[{"venue":{"city":"Graz"}}],"z":null}"#),
            ("events.id,events", r#"{"events":[{"id":1,"venue":{"id":2,"city":"Graz"},"x":0.5}]}"#),
            ("nothing", "{}"),
            (" , ", json),
        ] {
            assert_eq!(cut(json, fields).unwrap(), cut_down, "{fields}");
        }
    }
}
