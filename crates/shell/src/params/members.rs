//! Parses the members of a JSON object, keeping repeated names.

use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::Violation;

/// Parses the members of a JSON object in the order sent. Names can be repeated.
///
/// A byte order mark is skipped. The code of the violation is `empty` (no body, or `null`),
/// `encoding`, `depth` (more than `deepest` levels), `syntax`, or `object` (any other kind of
/// value). Except for `empty` and `object`, the limits include `line` and `column`, which are
/// counted in bytes from 1.
///
/// ```
/// use shell::params::{Input, Rules, members};
///
/// let members = members(br#"{"a": "1", "a": "2"}"#, 32).unwrap();
/// let input = Input::members(members.iter().map(|(name, value)| (name, value)));
/// assert_eq!(input.text("a", &Rules::PLAIN), Some("1"));
///
/// let violation = shell::params::members(b"{,}", 32).unwrap_err();
/// assert_eq!((&*violation.code, violation.limit("column").unwrap().as_u64()), ("syntax", Some(2)));
/// ```
///
/// # Errors
/// Returns an error if the body is not a valid JSON object.
pub fn members(bytes: &[u8], deepest: usize) -> Result<Vec<(String, Value)>, Violation> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = str::from_utf8(bytes).map_err(|error| {
        placed("encoding", "the body is not UTF-8 text", place(&bytes[..error.valid_up_to()]))
    })?;
    if text.trim().is_empty() {
        return Err(empty());
    }
    if let Some(before) = too_deep(text.as_bytes(), deepest) {
        let message = format!("the body is nested deeper than {deepest} levels");
        return Err(placed("depth", &message, place(before)));
    }
    match serde_json::from_str::<Whole>(text) {
        Ok(Whole::Members(members)) => Ok(members),
        Ok(Whole::Null) => Err(empty()),
        Ok(Whole::Other) => Err(Violation::new("", "object", "the body is not a JSON object")),
        Err(error) => Err(placed("syntax", "the body is not JSON", (error.line(), error.column()))),
    }
}

fn empty() -> Violation {
    Violation::new("", "empty", "the body is empty")
}

fn placed(code: &'static str, message: &str, (line, column): (usize, usize)) -> Violation {
    let limits = Box::new([("line".into(), line.into()), ("column".into(), column.into())]);
    Violation { limits, ..Violation::new("", code, message) }
}

/// Returns the line and column of the byte that follows `before`, counted the way `serde_json`
/// does.
fn place(before: &[u8]) -> (usize, usize) {
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    (line, column)
}

/// Returns the text before the first bracket that exceeds the maximum depth, or `None` if the depth
/// is fine. Brackets in strings don't count.
fn too_deep(text: &[u8], deepest: usize) -> Option<&[u8]> {
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
        if depth > deepest {
            return Some(&text[..at]);
        }
    }
    None
}

/// A parsed JSON value whose objects keep all members, even those with repeated names.
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

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Whole, A::Error> {
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

    fn found(bytes: &[u8]) -> (String, Option<u64>, Option<u64>) {
        let violation = members(bytes, 32).unwrap_err();
        let limit = |name| violation.limit(name).and_then(Value::as_u64);
        (violation.code.to_string(), limit("line"), limit("column"))
    }

    #[test]
    fn every_member_is_kept() {
        let read = members(b"\xef\xbb\xbf{\"A\":1,\"a\":null,\"A\":[]}", 32).unwrap();
        let names: Vec<_> = read.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["A", "a", "A"]);
    }

    #[test]
    fn faults_of_the_body_have_line_and_column() {
        for (bytes, code, line, column) in [
            (&b""[..], "empty", None, None),
            (b" null ", "empty", None, None),
            (b"[]", "object", None, None),
            (b"7", "object", None, None),
            (b"{\n x", "syntax", Some(2), Some(2)),
            (b"\xef\xbb\xbf{\n\"number\":\"\xff\"}", "encoding", Some(2), Some(11)),
        ] {
            assert_eq!(found(bytes), (code.to_owned(), line, column));
        }
        let deep = format!("{{\"number\":\n\n {}", "[".repeat(32));
        assert_eq!(found(deep.as_bytes()), ("depth".to_owned(), Some(3), Some(33)));
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        let text = format!("{{\"a\":\"{}\"}}", "[".repeat(50));
        assert!(members(text.as_bytes(), 1).is_ok());
    }
}
