//! Reads addresses from JSON, either one document per line or whole documents of any size.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read};

use batch::{BoundedLines, Line};
use serde::de::DeserializeSeed;

use super::each::Each;
use super::input::MAX_LINE;
use super::json_fields::{Fields, Room, Walk, Wanted};
use super::skip_reason::SkipReason;

/// Maximum size of a string, which the parser keeps in memory, in bytes.
const MAX_TEXT: u64 = 16 << 20;
/// Maximum size of a skipped field in bytes. The parser only tracks the nesting depth of these.
const MAX_SKIPPED: u64 = 1 << 30;

/// Reads one JSON document per line. Returns the names of the fields that were read.
///
/// # Errors
/// Returns I/O errors. Also fails if several fields of an object may contain its address.
pub fn read_lines(
    input: impl BufRead,
    column: Option<&str>,
    each: Each<'_>,
) -> io::Result<BTreeSet<String>> {
    let wanted = column.map_or(Wanted::Named, Wanted::Path);
    let (room, fields) = (Room::new(MAX_TEXT, MAX_SKIPPED), Fields::default());
    let mut lines = BoundedLines::new(input, MAX_LINE);
    while let Some((number, line)) = lines.next_line()? {
        let bytes = match line {
            Line::TooLong { .. } => {
                each(number, Err(SkipReason::TooLong))?;
                continue;
            }
            Line::Bytes(bytes) if bytes.trim_ascii().is_empty() => continue,
            Line::Bytes(bytes) => bytes,
        };
        let mut found: Vec<Result<String, SkipReason>> = Vec::new();
        let mut keep = |text: Result<&str, SkipReason>| {
            found.push(text.map(str::to_owned));
            Ok(())
        };
        let mut parser = serde_json::Deserializer::from_slice(bytes);
        let walk = Walk { wanted, is_value: false, room: &room, fields: &fields, keep: &mut keep };
        // If any part of a line is invalid, none of it is used.
        let is_valid = walk.deserialize(&mut parser).and_then(|()| parser.end()).is_ok();
        fields.expect_clear()?;
        if !is_valid {
            each(number, Err(SkipReason::Json))?;
            continue;
        }
        if found.is_empty() {
            each(number, Err(SkipReason::Empty))?;
        }
        for text in &found {
            each(number, text.as_deref().map_err(|reason| *reason))?;
        }
    }
    Ok(fields.names.into_inner())
}

/// Reads whole JSON documents. There are no meaningful line numbers, so addresses are numbered
/// instead. Returns the names of the fields that were read.
///
/// # Errors
/// Returns I/O errors. If the input isn't JSON, the error includes the position. Also fails if
/// several fields of an object may contain its address.
pub fn read_documents(
    input: impl BufRead,
    column: Option<&str>,
    each: Each<'_>,
) -> io::Result<BTreeSet<String>> {
    read_within(input, column, &Room::new(MAX_TEXT, MAX_SKIPPED), each)
}

/// Reads documents within the given limits.
fn read_within(
    input: impl BufRead,
    column: Option<&str>,
    room: &Room,
    each: Each<'_>,
) -> io::Result<BTreeSet<String>> {
    let wanted = column.map_or(Wanted::Named, Wanted::Path);
    let (mut number, mut failed, fields) = (0, None, Fields::default());
    let mut keep = |text: Result<&str, SkipReason>| {
        number += 1;
        each(number, text).map_err(|error| failed = Some(error))
    };
    let mut parser = serde_json::Deserializer::from_reader(Bounded { input, room });
    // `end` keeps failing as long as there's another document.
    while parser.end().is_err() {
        let walk = Walk { wanted, is_value: false, room, fields: &fields, keep: &mut keep };
        if let Err(error) = walk.deserialize(&mut parser) {
            fields.expect_clear()?;
            let (line, column) = (error.line(), error.column());
            let is_syntax = failed.is_none() && !error.is_io();
            let other = failed.unwrap_or_else(|| error.into());
            return Err(match is_syntax {
                true => io::Error::other(format!("invalid JSON at line {line}, column {column}")),
                false => other,
            });
        }
    }
    if number == 0 {
        let what = column.unwrap_or("with a known name, such as email");
        return Err(io::Error::other(format!(
            "the JSON does not contain a field {what}; --column names it as in --column user.email"
        )));
    }
    Ok(fields.names.into_inner())
}

/// A reader that fails if a value is too large.
struct Bounded<'r, R> {
    input: R,
    room: &'r Room,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let left = self.room.left.get().checked_sub(read as u64);
        let left = left.ok_or_else(|| io::Error::other("a JSON value is too large"))?;
        self.room.left.set(left);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::load::each::{Found, address, collect};

    fn lines(text: &str, column: Option<&str>) -> Found {
        collect(|each| read_lines(text.as_bytes(), column, each).map(drop)).unwrap()
    }

    fn documents(text: &str, column: Option<&str>) -> Result<Found, String> {
        collect(|each| read_documents(text.as_bytes(), column, each).map(drop))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn field_of_each_line_is_found_by_path_or_name() {
        let text = "{\"id\":1,\"user\":{\"email\":\"a@b.example\",\"password\":\"x@y.example\"}}\n\n\
                    {\"user\":{}}\nno json\n{\"user\":{\"email\":7}}\n\
                    {\"user\":[{\"email\":\"c@d.example\"},{\"email\":[\"e@f.example\"]}]}\n";
        let expected = [
            address(1, "a@b.example"),
            (3, Err(SkipReason::Empty)),
            (4, Err(SkipReason::Json)),
            (5, Err(SkipReason::Address)),
            address(6, "c@d.example"),
            address(6, "e@f.example"),
        ];
        for column in [Some("user.email"), None] {
            assert_eq!(lines(text, column), expected);
        }
        let among_secrets = "{\"password\":{\"email\":\"x@y.example\"},\"mail\":\"a@b.example\"}";
        assert_eq!(lines(among_secrets, None), [address(1, "a@b.example")]);
        let dotted =
            lines("{\"a.b\":{\"c\":\"a@b.example\"},\"a\":\"x@y.example\"}", Some("a.b.c"));
        assert_eq!(dotted, [address(1, "a@b.example")]);
        let cut = lines("{\"email\":\"a@b.example\"", None);
        assert_eq!(cut, [(1, Err(SkipReason::Json))]);
    }

    #[test]
    fn value_over_its_limit_is_refused_and_a_longer_document_is_read() {
        let read = |text: String, column| {
            let mut found = Vec::new();
            let mut keep = |_, text: Result<&str, _>| {
                found.push(text.unwrap().to_owned());
                Ok(())
            };
            let done = read_within(text.as_bytes(), column, &Room::new(100, 1_000), &mut keep);
            done.map(|_| found).map_err(|error| error.to_string())
        };
        let (long, part) = ("x".repeat(100), format!("{{\"x\":\"{}\"}},", "x".repeat(50)));
        let parts = part.repeat(9);
        for column in [Some("email"), None] {
            for text in [
                format!("[\"{long}\"]"),
                format!("{{\"{long}\":1}}"),
                format!("{{\"password\":[\"{}\"]}}", long.repeat(10)),
            ] {
                let refused = read(text, column).unwrap_err();
                assert_eq!(refused, "a JSON value is too large");
            }
            let skipped = format!("{{\"password\":[\"{}\"]}},", "x".repeat(500));
            let text = format!("[{parts}{skipped}{skipped}{{\"email\":\"a@b.example\"}}]");
            assert_eq!(read(text, column).unwrap(), ["a@b.example"]);
        }
    }

    #[test]
    fn particular_field_is_read_only_if_the_object_has_no_email() {
        let text = "{\"recovery_email\":\"x@y.example\",\"email\":\"a@b.example\"}\n\
                    {\"user\":{\"user_email\":[\"c@d.example\"]}}\n";
        let expected = [address(1, "a@b.example"), address(2, "c@d.example")];
        assert_eq!(lines(text, None), expected);
        assert_eq!(documents(text, None).unwrap(), expected);
        let text = "{\"recovery_email\":\"x@y.example\",\"user_email\":\"a@b.example\"}";
        let refused = documents(text, None).unwrap_err();
        assert!(refused.contains("addresses: recovery_email, user_email."), "{refused}");
        assert!(!refused.contains("b.example"), "{refused}");
    }

    #[test]
    fn error_about_many_fields_lists_a_limited_number() {
        let members: Vec<String> = (0..100).map(|n| format!("\"email{n}\":[]")).collect();
        let refused = documents(&format!("{{{}}}", members.join(",")), None).unwrap_err();
        assert_eq!(refused.matches("email").count(), 20, "{refused}");
    }

    #[test]
    fn documents_are_read_without_lines() {
        let text = "{\"users\": [{\"email\": \"a@b.example\", \"n\": 1.5},\n {\"email\": null},\n\
                    {\"email\": \"c@d.example\"}]} [{\"users\": {\"email\": true}}]";
        let expected = [
            address(1, "a@b.example"),
            (2, Err(SkipReason::Empty)),
            address(3, "c@d.example"),
            (4, Err(SkipReason::Address)),
        ];
        for column in [Some("users.email"), None] {
            assert_eq!(documents(text, column).unwrap(), expected);
        }
        let missing = documents(text, Some("users.mail")).unwrap_err();
        assert!(missing.contains("does not contain a field users.mail"), "{missing}");
        for broken in ["[{\"email\":\"a@b.example\"},\n", "[{\"email\":\"a@b.example\"}] x"] {
            let error = documents(broken, None).unwrap_err();
            assert!(error.contains("invalid JSON at line"), "{error}");
        }
    }
}
