//! List values that can be written as table rows.

use std::borrow::Cow;

use serde::Serialize;
use utoipa::ToSchema;

/// A value with several members, which can also be written as a table row.
pub trait Record {
    /// The column names, which are also the member names.
    const COLUMNS: &'static [&'static str];

    /// Returns the cells of the row.
    fn cells(&self) -> Vec<Cow<'_, str>>;
}

/// The name of a type, as an item in a list of types.
#[derive(Serialize)]
#[serde(transparent)]
pub struct TypeName(pub &'static str);

impl Record for TypeName {
    const COLUMNS: &'static [&'static str] = &["type"];

    fn cells(&self) -> Vec<Cow<'_, str>> {
        vec![Cow::Borrowed(self.0)]
    }
}

/// A single value, or a list if `quantity` is given.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "documentation: its variants are never made")]
pub enum OneOrSeveral<T: ToSchema> {
    /// Without `quantity`.
    One(T),
    /// With `quantity`.
    Several(Vec<T>),
}

/// A single string, or a list if `quantity` is given.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "documentation: its variants are never made")]
pub enum TextOrTexts {
    /// Without `quantity`.
    One(String),
    /// With `quantity`.
    Several(Vec<String>),
}

/// The end of a CSV row.
const END: &[u8] = b"\r\n";

/// Appends a CSV row (RFC 4180) in which empty cells are nulls. If there is only one cell and it is
/// empty, it is quoted, because readers skip blank lines.
pub fn push_row<'a>(cells: impl IntoIterator<Item = &'a str>, out: &mut Vec<u8>) {
    let start = out.len();
    push_values(cells.into_iter().map(|cell| Some(cell).filter(|cell| !cell.is_empty())), out);
    if &out[start..] == END {
        out.truncate(start);
        out.extend_from_slice(b"\"\"\r\n");
    }
}

/// Appends a CSV row (RFC 4180) in which `None` is a null. Empty strings are quoted, because
/// PostgreSQL reads unquoted empty cells as nulls. A cell `\.` is quoted, too, because PostgreSQL
/// reads it as the end of the data if it is alone in a line. If the only cell is a null, this
/// results in a blank line, which PostgreSQL also reads as a null and spreadsheets keep as a row.
pub fn push_values<'a>(cells: impl IntoIterator<Item = Option<&'a str>>, out: &mut Vec<u8>) {
    for (position, cell) in cells.into_iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        let Some(cell) = cell else { continue };
        let plain =
            !cell.bytes().any(|byte| matches!(byte, b'"' | b',' | b'\r' | b'\n')) && cell != "\\.";
        let is_padded =
            cell.starts_with(char::is_whitespace) || cell.ends_with(char::is_whitespace);
        if plain && !is_padded && !cell.is_empty() {
            out.extend_from_slice(cell.as_bytes());
        } else {
            out.push(b'"');
            out.extend_from_slice(cell.replace('"', "\"\"").as_bytes());
            out.push(b'"');
        }
    }
    out.extend_from_slice(END);
}

#[cfg(test)]
mod tests {
    use super::{push_row, push_values};

    #[test]
    fn cells_with_separators_are_quoted() {
        let mut out = Vec::new();
        push_row(["plain", "a,b", "say \"hi\"", "two\nlines", " blank", ""], &mut out);
        let row = "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\" blank\",\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), row);
    }

    #[test]
    fn a_single_empty_cell_is_not_a_blank_line() {
        let mut out = Vec::new();
        push_row([""], &mut out);
        push_row(["", ""], &mut out);
        assert_eq!(out, b"\"\"\r\n,\r\n");
    }

    #[test]
    fn empty_strings_differ_from_nulls() {
        let mut out = Vec::new();
        push_values([Some("a"), None, Some("")], &mut out);
        assert_eq!(out, b"a,,\"\"\r\n");
    }

    #[test]
    fn mark_that_ends_the_data_is_quoted() {
        let mut out = Vec::new();
        push_values([Some("\\.")], &mut out);
        assert_eq!(out, b"\"\\.\"\r\n");
    }

    #[test]
    fn lone_null_is_a_blank_line_and_a_lone_empty_string_has_quotes() {
        let mut out = Vec::new();
        push_values([None], &mut out);
        push_values([Some("")], &mut out);
        assert_eq!(out, b"\r\n\"\"\r\n");
    }
}
