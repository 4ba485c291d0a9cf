//! ZIP archives of tables, generated while they are being sent.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io::{self, Write};
use std::rc::Rc;

use zip::ZipWriter;
use zip::result::ZipResult;
use zip::write::{SimpleFileOptions, StreamWriter};

use super::document::{Document, DocumentError, RowForm};
use crate::model::records::{Schema, Table};

/// Number of bytes of table data to compress at a time. Compressing each row separately would be
/// slow.
const PART: usize = 16 << 10;

/// The compressor's output, drained after each step.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A ZIP archive with one file per table, generated incrementally. Since a file's size is written
/// after its data, files never have to be buffered.
pub struct Archive {
    files: std::vec::IntoIter<(String, Document)>,
    current: Option<Document>,
    /// Number of rows in all previous files.
    before: u64,
    part: Vec<u8>,
    zip: Option<ZipWriter<StreamWriter<Shared>>>,
    written: Shared,
    has_mark: bool,
}

impl Archive {
    /// Starts an archive of one table or of all tables. `part` gives the number of rows to skip and
    /// the maximum number to write. If `has_mark` is true, CSV files start with a byte order mark.
    ///
    /// # Errors
    /// Returns [`DocumentError::UnknownTable`] if there's no such table.
    pub fn new(
        form: RowForm,
        schema: &Schema,
        table: Option<&str>,
        part: (u64, Option<u64>),
        has_mark: bool,
    ) -> Result<Self, DocumentError> {
        let mut files = Vec::new();
        let is_wanted = |own: &&Rc<Table>| table.is_none_or(|table| table == own.name);
        let tables: Vec<_> = schema.tables.iter().filter(is_wanted).collect();
        let names = file_names(tables.iter().map(|own| own.name.as_str()), form.extension());
        for (own, name) in tables.into_iter().zip(names) {
            let part = if table.is_none() { own.asked(part) } else { part };
            files.push((name, Document::new(form, schema, Some(own.name.as_str()), part)?));
        }
        if files.is_empty() {
            return Err(DocumentError::UnknownTable);
        }
        let written = Shared::default();
        let zip = Some(ZipWriter::new_stream(written.clone()));
        let has_mark = has_mark && form == RowForm::Csv;
        Ok(Self {
            files: files.into_iter(),
            current: None,
            before: 0,
            part: Vec::with_capacity(PART + 4_096),
            zip,
            written,
            has_mark,
        })
    }

    /// Returns the number of rows written so far.
    pub fn rows_written(&self) -> u64 {
        self.before + self.current.as_ref().map_or(0, Document::rows_written)
    }

    /// Generates a row, or ends a file or the archive, and appends the compressed data that is
    /// ready. Returns false at the end of the archive. At most one row is generated per call,
    /// because a row can take long.
    pub fn push(&mut self, out: &mut Vec<u8>) -> bool {
        // This shouldn't fail, because the archive is written to memory and large files are
        // enabled. If it ever does, the archive lacks its directory, which every reader detects.
        let more = self.step().unwrap_or(false);
        out.append(&mut self.written.0.borrow_mut());
        more
    }

    fn step(&mut self) -> ZipResult<bool> {
        let Some(zip) = &mut self.zip else { return Ok(false) };
        let document = match &mut self.current {
            Some(document) => document,
            none => {
                let Some((name, document)) = self.files.next() else {
                    if let Some(zip) = self.zip.take() {
                        zip.finish()?;
                    }
                    return Ok(false);
                };
                let options = SimpleFileOptions::default().large_file(true);
                zip.start_file(name, options.compression_level(Some(1)))?;
                if self.has_mark {
                    zip.write_all("\u{feff}".as_bytes())?;
                }
                none.insert(document)
            }
        };
        let more = document.push(&mut self.part);
        if !more || self.part.len() >= PART {
            zip.write_all(&self.part)?;
            self.part.clear();
        }
        if !more {
            self.before += document.rows_written();
            self.current = None;
        }
        Ok(true)
    }
}

/// Returns the names of the files for these tables.
pub fn file_names<'n>(tables: impl Iterator<Item = &'n str>, extension: &str) -> Vec<String> {
    let mut names = HashSet::new();
    let name = |table: &str| {
        let stem = file_name(table);
        // Append a number if the name clashes with another one, which happens if they only differ
        // in letter case or in characters that aren't allowed in paths.
        let mut name = format!("{stem}.{extension}");
        let mut number = 1;
        while !names.insert(name.to_lowercase()) {
            number += 1;
            name = format!("{stem}-{number}.{extension}");
        }
        name
    };
    tables.map(name).collect()
}

/// Returns a table's name, made safe for use in paths.
fn file_name(name: &str) -> String {
    let safe = |letter: char| {
        if letter.is_alphanumeric() || "-_ ".contains(letter) { letter } else { '_' }
    };
    name.chars().map(safe).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::records::{Bounds, parse};
    use crate::model::{SEEDED_DAY, Seed};

    #[test]
    fn each_push_generates_a_single_row() {
        let bounds = Bounds {
            seed: Seed::parse("demo").unwrap(),
            day: SEEDED_DAY,
            is_part: false,
            is_sql: false,
            rows: None,
            most_tables: 1,
            most_fields: 1,
            most_rows: 100,
        };
        let schema = json!({"rows": 3, "fields": [{"name": "id", "type": "sequence"}]});
        let schema = parse(&schema, &bounds).unwrap();
        let mut archive = Archive::new(RowForm::Csv, &schema, None, (0, None), false).unwrap();
        let mut out = Vec::new();
        for rows in 1..=3 {
            assert!(archive.push(&mut out));
            assert_eq!(archive.rows_written(), rows);
        }
        assert!(archive.push(&mut out), "the archive's directory follows");
        assert!(!archive.push(&mut out));
        assert_eq!(archive.rows_written(), 3);
    }
}
