//! Converts entries to NDJSON.

use crate::model::{Attribute, Attributes};

/// An entry as an NDJSON line, so that it can be fixed and loaded again.
///
/// All values are strings, exactly as in the source. Invalid UTF-8 is preserved.
pub(super) struct Record(Vec<u8>);

impl Record {
    /// Starts an entry.
    pub(super) fn of(bucket: Option<&str>, kind: Option<&str>) -> Self {
        let record = Self(vec![b'{']);
        record.field("bucket", bucket.map(str::as_bytes)).field("type", kind.map(str::as_bytes))
    }

    /// Adds a field if the source has it.
    pub(super) fn field(mut self, name: impl AsRef<[u8]>, value: Option<impl AsRef<[u8]>>) -> Self {
        if let Some(value) = value {
            if self.0.len() > 1 {
                self.0.push(b',');
            }
            self.quoted(name.as_ref());
            self.0.push(b':');
            self.quoted(value.as_ref());
        }
        self
    }

    /// Adds the attributes exactly as they are spelled in the source.
    pub(super) fn attributes(self, texts: &Attributes<Option<impl AsRef<str>>>) -> Self {
        Attribute::ALL.into_iter().fold(self, |record, attribute| {
            let text = texts[attribute].as_ref().map(|text| text.as_ref());
            record.field(attribute.member(), text)
        })
    }

    /// Returns the line without a line feed.
    pub(super) fn into_line(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }

    fn quoted(&mut self, text: &[u8]) {
        self.0.push(b'"');
        for &byte in text {
            match byte {
                b'"' | b'\\' => self.0.extend_from_slice(&[b'\\', byte]),
                0..0x20 => self.0.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
                _ => self.0.push(byte),
            }
        }
        self.0.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_preserved() {
        let line = Record::of(Some("b"), None).field("fullPath", Some(b"a\"\\\n\xff")).into_line();
        assert_eq!(line, b"{\"bucket\":\"b\",\"fullPath\":\"a\\\"\\\\\\u000a\xff\"}");
    }
}
