//! Writes table rows in the various record formats.

use std::rc::Rc;

use super::record::{push_row, push_values};
use crate::model::records::{Cell, Rows, Schema, Shape, Table, sql_name};

/// A record format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowForm {
    /// A JSON array or, for several tables, an object of arrays.
    #[default]
    Json,
    /// One JSON object per line.
    Ndjson,
    /// Comma-separated values with a header (RFC 4180).
    Csv,
    /// INSERT statements of 100 rows each.
    Sql,
    /// COPY commands for PostgreSQL, to be run by psql.
    Copy,
}

impl RowForm {
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json; charset=utf-8",
            Self::Ndjson => "application/x-ndjson; charset=utf-8",
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Sql | Self::Copy => "application/sql; charset=utf-8",
        }
    }

    /// Returns the file extension.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
            Self::Sql | Self::Copy => "sql",
        }
    }

    /// Returns whether a document in this format can hold several tables.
    fn has_tables(self) -> bool {
        matches!(self, Self::Json | Self::Sql | Self::Copy)
    }
}

/// An error while creating a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The schema doesn't have a table with this name.
    #[error("must name a table of the schema")]
    UnknownTable,
    /// The format can only hold one table, but the schema has several.
    #[error("is required, because the schema has several tables and this format has one")]
    OneTable,
}

/// Number of rows per INSERT statement.
const BATCH: u64 = 100;

/// The rows of one table or of all tables, appended incrementally.
pub struct Document {
    form: RowForm,
    tables: Vec<Rc<Table>>,
    /// Index of the current table.
    place: usize,
    part: (u64, Option<u64>),
    /// Whether all tables are written, in which case child tables depend on the rows of their
    /// parents.
    is_whole: bool,
    /// The rows of the current table, once it has been started.
    rows: Option<Rows>,
    /// `"name":` for each column of the current table.
    labels: Vec<Vec<u8>>,
    /// Number of rows written so far for the current table.
    written: u64,
    /// Number of rows in all previous tables.
    before: u64,
}

impl Document {
    /// Starts a document with one table or all tables. `part` is the number of rows to skip and the
    /// maximum number of rows to write per table. If all tables are written, a child table instead
    /// contains all children of the parents that were written.
    ///
    /// # Errors
    /// Returns an error if the table doesn't exist, or if the format needs a single table.
    pub fn new(
        form: RowForm,
        schema: &Schema,
        table: Option<&str>,
        part: (u64, Option<u64>),
    ) -> Result<Self, DocumentError> {
        let tables: Vec<_> = match table {
            None => schema.tables.clone(),
            Some(name) => {
                schema.tables.iter().filter(|table| table.name == name).cloned().collect()
            }
        };
        match tables.len() {
            0 => return Err(DocumentError::UnknownTable),
            1 => {}
            _ if !form.has_tables() => return Err(DocumentError::OneTable),
            _ => {}
        }
        let labels = Vec::new();
        Ok(Self {
            form,
            tables,
            place: 0,
            part,
            is_whole: table.is_none(),
            rows: None,
            labels,
            written: 0,
            before: 0,
        })
    }

    /// Starts the next table, and returns its name, the index of its first row and its row count.
    /// The caller then writes the rows with [`push_rows`] and calls [`end_table`](Self::end_table).
    /// Returns `None` after the last table.
    pub fn begin_table(&mut self, out: &mut Vec<u8>) -> Option<(String, u64, u64)> {
        let is_several = self.tables.len() > 1;
        let table = self.tables.get(self.place)?;
        begin(self.form, table, (self.place, is_several), out);
        let (first, count) = if self.is_whole { table.asked(self.part) } else { self.part };
        let left = table.rows.saturating_sub(first);
        let count = count.map_or(left, |count| count.min(left));
        Some((table.name.clone(), first, count))
    }

    /// Finishes a table in which `written` rows were written.
    pub fn end_table(&mut self, written: u64, out: &mut Vec<u8>) {
        let is_several = self.tables.len() > 1;
        self.place += 1;
        end(self.form, written, (is_several, self.place == self.tables.len()), out);
    }

    /// Returns the number of rows that [`push`](Self::push) has appended.
    pub fn rows_written(&self) -> u64 {
        self.before + self.written
    }

    /// Appends a row or finishes a table. Returns false at the end of the document.
    pub fn push(&mut self, out: &mut Vec<u8>) -> bool {
        let is_several = self.tables.len() > 1;
        let Some(table) = self.tables.get(self.place) else { return false };
        let rows = match &mut self.rows {
            Some(rows) => rows,
            none => {
                begin(self.form, table, (self.place, is_several), out);
                self.labels = table.columns().map(label).collect();
                let (first, count) = if self.is_whole { table.asked(self.part) } else { self.part };
                none.insert(table.part(first, count))
            }
        };
        if let Some(cells) = rows.make_next() {
            let labels = &self.labels;
            push_cells(self.form, (table, labels), cells, self.written, out);
            self.written += 1;
            return true;
        }
        self.rows = None;
        self.place += 1;
        let is_last = self.place == self.tables.len();
        end(self.form, self.written, (is_several, is_last), out);
        self.before += std::mem::take(&mut self.written);
        !is_last
    }
}

/// Appends a range of a table's rows. `written` is the number of rows of this table that the
/// document already contains.
pub fn push_rows(
    form: RowForm,
    table: &Rc<Table>,
    (first, count): (u64, u64),
    mut written: u64,
    out: &mut Vec<u8>,
) {
    let labels: Vec<_> = table.columns().map(label).collect();
    let mut rows = table.part(first, Some(count));
    while let Some(cells) = rows.make_next() {
        push_cells(form, (table, &labels), cells, written, out);
        written += 1;
    }
}

fn begin(form: RowForm, table: &Table, (place, is_several): (usize, bool), out: &mut Vec<u8>) {
    match form {
        RowForm::Json if is_several => {
            out.extend_from_slice(if place == 0 { b"{" } else { b",\n" });
            out.extend_from_slice(&label(&table.name));
            out.push(b'[');
        }
        RowForm::Json => out.push(b'['),
        RowForm::Csv => push_row(table.columns(), out),
        RowForm::Copy => {
            out.extend_from_slice(b"COPY ");
            push_columns(table, out);
            out.extend_from_slice(b" FROM stdin;\n");
        }
        RowForm::Ndjson | RowForm::Sql => {}
    }
}

fn push_cells(
    form: RowForm,
    (table, labels): (&Table, &[Vec<u8>]),
    cells: &[Cell],
    written: u64,
    out: &mut Vec<u8>,
) {
    match form {
        RowForm::Json | RowForm::Ndjson => {
            if form == RowForm::Json {
                out.extend_from_slice(if written == 0 { b"\n" } else { b",\n" });
            }
            let mut before = b'{';
            for (label, cell) in labels.iter().zip(cells) {
                out.push(before);
                before = b',';
                out.extend_from_slice(label);
                cell.push_json(out);
            }
            out.push(b'}');
            if form == RowForm::Ndjson {
                out.push(b'\n');
            }
        }
        RowForm::Csv => push_values(cells.iter().map(Cell::as_text), out),
        RowForm::Sql => {
            if written.is_multiple_of(BATCH) {
                out.extend_from_slice(if written == 0 { b"" } else { b";\n" });
                out.extend_from_slice(b"INSERT INTO ");
                push_columns(table, out);
                out.extend_from_slice(b" VALUES\n(");
            } else {
                out.extend_from_slice(b",\n(");
            }
            for (place, cell) in cells.iter().enumerate() {
                out.extend_from_slice(if place > 0 { b", " } else { b"" });
                push_literal(cell, out);
            }
            out.push(b')');
        }
        RowForm::Copy => {
            for (place, cell) in cells.iter().enumerate() {
                out.extend_from_slice(if place > 0 { b"\t" } else { b"" });
                push_copied(cell, out);
            }
            out.push(b'\n');
        }
    }
}

fn end(form: RowForm, written: u64, (is_several, is_last): (bool, bool), out: &mut Vec<u8>) {
    match form {
        RowForm::Json => {
            out.extend_from_slice(if written > 0 { b"\n]" } else { b"]" });
            if is_last {
                out.extend_from_slice(if is_several { b"}\n" } else { b"\n" });
            }
        }
        RowForm::Sql if written > 0 => out.extend_from_slice(b";\n"),
        RowForm::Copy => out.extend_from_slice(b"\\.\n"),
        RowForm::Sql | RowForm::Ndjson | RowForm::Csv => {}
    }
}

/// Returns `"name":`, escaped for JSON.
fn label(name: &str) -> Vec<u8> {
    // Strings can always be encoded as JSON.
    let mut label = serde_json::to_vec(name).unwrap_or_default();
    label.push(b':');
    label
}

/// Appends `"table" ("a", "b")`. Nothing has to be escaped, because names can't contain quotes.
fn push_columns(table: &Table, out: &mut Vec<u8>) {
    let columns = table.columns().map(|name| format!("\"{name}\"")).collect::<Vec<_>>();
    let text = format!("{} ({})", sql_name(&table.name), columns.join(", "));
    out.extend_from_slice(text.as_bytes());
}

fn push_literal(cell: &Cell, out: &mut Vec<u8>) {
    match cell.shape {
        Shape::Null => out.extend_from_slice(b"NULL"),
        Shape::Number | Shape::Boolean => out.extend_from_slice(cell.text.as_bytes()),
        Shape::Text | Shape::Json => {
            out.push(b'\'');
            for (place, part) in cell.text.split('\'').enumerate() {
                out.extend_from_slice(if place > 0 { b"''" } else { b"" });
                out.extend_from_slice(part.as_bytes());
            }
            out.push(b'\'');
        }
    }
}

/// Appends a cell in the text format of `COPY`.
fn push_copied(cell: &Cell, out: &mut Vec<u8>) {
    let Some(text) = cell.as_text() else { return out.extend_from_slice(b"\\N") };
    if !text.bytes().any(|byte| matches!(byte, b'\\' | b'\t' | b'\n' | b'\r')) {
        return out.extend_from_slice(text.as_bytes());
    }
    for byte in text.bytes() {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            other => out.push(other),
        }
    }
}
