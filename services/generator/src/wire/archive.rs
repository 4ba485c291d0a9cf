//! ZIP archives of tables, which are written while they are sent.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io::{self, Write};
use std::rc::Rc;

use zip::ZipWriter;
use zip::result::ZipResult;
use zip::write::{SimpleFileOptions, StreamWriter};

use super::document::{Document, DocumentError, RowForm};
use crate::model::records::Schema;

/// The number of bytes of a table that are compressed at a time.
const PART: usize = 16 << 10;

/// The output of the compressor, which is drained after each step.
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

/// A ZIP archive with a file for each table, which is appended step by step. The sizes are written
/// after the files, so that no file has to be kept in memory.
pub struct Archive {
    files: std::vec::IntoIter<(String, Document)>,
    current: Option<Document>,
    /// The number of rows of the files before.
    before: u64,
    part: Vec<u8>,
    zip: Option<ZipWriter<StreamWriter<Shared>>>,
    written: Shared,
    has_mark: bool,
}

impl Archive {
    /// Begins an archive with a part of the rows, given as an offset and a number. It contains one
    /// table, or all. If `has_mark` is true, CSV begins with a byte order mark.
    ///
    /// # Errors
    /// Returns [`DocumentError::UnknownTable`].
    pub fn new(
        form: RowForm,
        schema: &Schema,
        table: Option<&str>,
        part: (u64, Option<u64>),
        has_mark: bool,
    ) -> Result<Self, DocumentError> {
        let mut names = HashSet::new();
        let mut files = Vec::new();
        for wanted in schema.tables.iter().map(|wanted| wanted.name.as_str()) {
            if table.is_some_and(|table| table != wanted) {
                continue;
            }
            let stem = file_name(wanted);
            // Names that differ only in letter case, or in characters that are not allowed in
            // paths, need a number.
            let mut name = format!("{stem}.{}", form.extension());
            let mut number = 1;
            while !names.insert(name.to_lowercase()) {
                number += 1;
                name = format!("{stem}-{number}.{}", form.extension());
            }
            files.push((name, Document::new(form, schema, Some(wanted), part)?));
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

    /// Returns the number of rows that were written.
    pub fn rows_written(&self) -> u64 {
        self.before + self.current.as_ref().map_or(0, Document::rows_written)
    }

    /// Appends a part of a file. Returns false after the end of the archive.
    pub fn push(&mut self, out: &mut Vec<u8>) -> bool {
        // Writing to memory cannot fail, and large files are supported. If an archive ends early
        // nevertheless, its directory is missing, which every reader notices.
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
        self.part.clear();
        let mut more = true;
        while more && self.part.len() < PART {
            more = document.push(&mut self.part);
        }
        zip.write_all(&self.part)?;
        if !more {
            self.before += document.rows_written();
            self.current = None;
        }
        Ok(true)
    }
}

/// Returns the name of a table without characters that are not allowed in paths.
pub fn file_name(name: &str) -> String {
    let safe = |letter: char| {
        if letter.is_alphanumeric() || "-_ ".contains(letter) { letter } else { '_' }
    };
    name.chars().map(safe).collect()
}
