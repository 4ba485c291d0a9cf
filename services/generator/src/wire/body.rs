//! Reads a JSON body: members in any case, the last of several counts, unknown ones are refused.

use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use shell::Violation;

/// Arrays and objects inside each other.
const DEEPEST: usize = 32;

/// Unknown members that are told; a body may have a hundred thousand.
const MOST_UNKNOWN: usize = 32;

/// A body with the faults found while it was read.
pub struct Body {
    members: Option<Vec<(String, Value)>>,
    faults: Vec<Violation>,
}

impl Body {
    /// Reads a body whose members are `known` (in camelCase); of the others the first 32 are faults.
    pub fn read(bytes: &[u8], known: &[&str]) -> Self {
        match members(bytes) {
            Ok(members) => {
                let unknown = members
                    .iter()
                    .filter(|(name, _)| !known.iter().any(|known| known.eq_ignore_ascii_case(name)))
                    .take(MOST_UNKNOWN)
                    .map(|(name, _)| {
                        let message = format!("The property '{name}' is not allowed.");
                        fault(&format!("$.{name}"), message)
                    });
                Self { faults: unknown.collect(), members: Some(members) }
            }
            Err(violation) => Self { faults: vec![violation], members: None },
        }
    }

    /// What is wrong with the body as a whole.
    pub fn faults(&self) -> &[Violation] {
        &self.faults
    }

    /// Whether there are members to look at.
    pub fn is_object(&self) -> bool {
        self.members.is_some()
    }

    /// The text of a member; `null` is none, another kind of value gives a message.
    pub fn member(&self, name: &str) -> Option<Result<&str, String>> {
        let mut members = self.members.iter().flatten();
        match members.rfind(|(other, _)| other.eq_ignore_ascii_case(name))? {
            (_, Value::Null) => None,
            (_, Value::String(text)) => Some(Ok(text)),
            (other, _) => Some(Err(format!("The property '{other}' must be a string."))),
        }
    }
}

fn fault(field: &str, message: String) -> Violation {
    Violation::new(field, "invalid", message)
}

fn members(bytes: &[u8]) -> Result<Vec<(String, Value)>, Violation> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = str::from_utf8(bytes).map_err(|error| {
        let place = place(&bytes[..error.valid_up_to()]);
        fault("$", format!("The body is not UTF-8 text: {place}."))
    })?;
    if text.trim().is_empty() {
        return Err(missing());
    }
    if let Some(before) = too_deep(text.as_bytes()) {
        let place = place(before);
        let message = format!("The body is nested deeper than {DEEPEST} levels: {place}.");
        return Err(fault("$", message));
    }
    match serde_json::from_str::<Whole>(text) {
        Ok(Whole::Members(members)) => Ok(members),
        Ok(Whole::Null) => Err(missing()),
        Ok(Whole::Other) => Err(fault("$", "The body must be a JSON object.".to_owned())),
        Err(error) => Err(fault(
            "$",
            format!("The body is not JSON: line {}, column {}.", error.line(), error.column()),
        )),
    }
}

fn missing() -> Violation {
    fault("", "A non-empty request body is required.".to_owned())
}

/// Where the byte behind some others stands, counted from 1 and in bytes as `serde_json` does.
fn place(before: &[u8]) -> String {
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    format!("line {line}, column {column}")
}

/// What stands before the first bracket that is one too many; brackets in strings do not count.
fn too_deep(text: &[u8]) -> Option<&[u8]> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Some(&text[..at]);
        }
    }
    None
}

/// A JSON text, with every member of an object, also those of equal name.
enum Whole {
    Members(Vec<(String, Value)>),
    Null,
    Other,
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Whole;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Whole, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Whole::Members(members))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Whole, A::Error> {
                while seq.next_element::<Value>()?.is_some() {}
                Ok(Whole::Other)
            }

            fn visit_unit<E>(self) -> Result<Whole, E> {
                Ok(Whole::Null)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Whole, E> {
                Ok(Whole::Other)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Whole, E> {
                Ok(Whole::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Whole, E> {
                Ok(Whole::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Whole, E> {
                Ok(Whole::Other)
            }

            fn visit_str<E>(self, _: &str) -> Result<Whole, E> {
                Ok(Whole::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<String> {
        let body = Body::read(text.as_bytes(), &["number", "country"]);
        body.faults().iter().map(|fault| fault.field.clone()).collect()
    }

    #[test]
    fn members_ignore_case_and_the_last_one_counts() {
        let body = Body::read(br#"{"NUMBER":"1","number":"2"}"#, &["number"]);
        assert!(body.faults().is_empty());
        assert_eq!(body.member("Number"), Some(Ok("2")));
    }

    #[test]
    fn byte_order_mark_is_skipped() {
        assert!(Body::read(b"\xef\xbb\xbf{\"number\":\"1\"}", &["number"]).faults().is_empty());
    }

    #[test]
    fn faults_are_found_at_their_place() {
        assert_eq!(fields(""), [""]);
        assert_eq!(fields(" null "), [""]);
        assert_eq!(fields("[]"), ["$"]);
        assert_eq!(fields("7"), ["$"]);
        assert_eq!(fields(r#"{"number":"1",}"#), ["$"]);
        assert_eq!(fields(r#"{"number":"1" /* x */}"#), ["$"]);
        assert_eq!(fields(r#"{"extra":1,"other":2}"#), ["$.extra", "$.other"]);
        assert_eq!(Body::read(b"\xff", &[]).faults()[0].field, "$");
    }

    #[test]
    fn only_the_first_unknown_members_are_told() {
        let members: Vec<_> = (0..40_000).map(|n| format!("\"member{n}\":1")).collect();
        let told = fields(&format!("{{{}}}", members.join(",")));
        assert_eq!(told.len(), 32);
        assert_eq!([&told[0], &told[31]], ["$.member0", "$.member31"]);
    }

    #[test]
    fn broken_bodies_are_told_with_line_and_column() {
        let message = |bytes: &[u8]| Body::read(bytes, &["number"]).faults()[0].message.clone();
        assert_eq!(message(b"{\n x"), "The body is not JSON: line 2, column 2.");
        assert_eq!(
            message(b"\xef\xbb\xbf{\n\"number\":\"\xff\"}"),
            "The body is not UTF-8 text: line 2, column 11."
        );
        let deep = format!("{{\"number\":\n\n {}", "[".repeat(32));
        assert_eq!(
            message(deep.as_bytes()),
            "The body is nested deeper than 32 levels: line 3, column 33."
        );
    }

    #[test]
    fn nesting_ends_at_32_levels() {
        let nested = |levels: usize| {
            format!("{{\"number\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1))
        };
        assert!(fields(&nested(32)).is_empty());
        assert_eq!(fields(&nested(33)), ["$"]);
        assert!(fields(r#"{"number":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}"#).is_empty());
    }
}
