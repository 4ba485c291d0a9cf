//! The value of one field in one row.

use std::fmt::{Display, Write};

use crate::model::digits::push_padded;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A null.
    Null,
    /// A string.
    Text,
    /// A number in JSON notation.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An object or array in JSON.
    Json,
}

/// A value in a row. Cells are reused to avoid an allocation per row.
#[derive(Debug)]
pub struct Cell {
    /// The type of the value.
    pub shape: Shape,
    /// The value as a string. Meaningless for [`Shape::Null`].
    pub text: String,
}

impl Default for Cell {
    fn default() -> Self {
        Self { shape: Shape::Null, text: String::new() }
    }
}

impl Cell {
    /// Turns the cell into an empty string, and returns the string for the caller to append to.
    pub fn begin(&mut self) -> &mut String {
        self.shape = Shape::Text;
        self.text.clear();
        &mut self.text
    }

    /// Sets the cell to null.
    pub fn set_null(&mut self) {
        self.shape = Shape::Null;
        self.text.clear();
    }

    /// Sets the cell to a string, or to null if `text` is `None`.
    pub fn set_text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.begin().push_str(text),
            None => self.set_null(),
        }
    }

    /// Sets the cell to a non-string value, given in JSON notation.
    pub fn set(&mut self, shape: Shape, value: impl Display) {
        self.shape = shape;
        self.text.clear();
        let _ = write!(self.text, "{value}");
    }

    /// Sets the cell to a number with `decimals` decimals, given in units of the last decimal.
    pub fn set_decimal(&mut self, units: i64, decimals: u32) {
        self.shape = Shape::Number;
        self.text.clear();
        if units < 0 {
            self.text.push('-');
        }
        let one = 10_u64.pow(decimals);
        push_padded(units.unsigned_abs() / one, 1, &mut self.text);
        if decimals > 0 {
            self.text.push('.');
            push_padded(units.unsigned_abs() % one, decimals as usize, &mut self.text);
        }
    }

    /// Returns the value as a string, or `None` if it is null.
    pub fn as_text(&self) -> Option<&str> {
        (self.shape != Shape::Null).then_some(&self.text)
    }

    /// Appends the value as JSON.
    pub fn push_json(&self, out: &mut Vec<u8>) {
        match self.shape {
            Shape::Null => out.extend_from_slice(b"null"),
            Shape::Text => push_json_text(&self.text, out),
            Shape::Number | Shape::Boolean | Shape::Json => {
                out.extend_from_slice(self.text.as_bytes());
            }
        }
    }
}

/// Appends a quoted and escaped JSON string.
pub fn push_json_text(text: &str, out: &mut Vec<u8>) {
    let is_plain = |byte: &u8| !matches!(byte, b'"' | b'\\' | 0..=0x1f);
    if text.as_bytes().iter().all(is_plain) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    // Writing to a `Vec` can't fail.
    let _ = serde_json::to_writer(out, text);
}
