//! Output formats for `make`.

use std::io::Write;

use crate::model::records::Shape;
use crate::wire::{Book, push_row};

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One value per line; persons as NDJSON
    Lines,
    /// Comma-separated values with a header (RFC 4180)
    Csv,
    /// One JSON value per line
    Ndjson,
    /// A JSON array
    Json,
    /// One INSERT statement per line
    Sql,
    /// An Excel workbook
    Xlsx,
}

/// A generated value.
#[derive(Debug, Default)]
pub struct Row {
    /// One string per column.
    pub cells: Vec<String>,
    pub json: String,
}

impl Row {
    /// Creates a row for a plain string value.
    pub fn of_text(text: &str) -> Self {
        let json = serde_json::to_string(text).unwrap_or_default();
        Self { cells: vec![text.to_owned()], json }
    }
}

/// Writes rows in any format.
pub struct Table<'a> {
    format: Format,
    name: &'static str,
    columns: &'static [&'static str],
    out: &'a mut dyn Write,
    rows: u64,
    /// The workbook. Only set for [`Format::Xlsx`].
    book: Option<Book>,
}

impl<'a> Table<'a> {
    /// Starts a table and writes its header, if the format has one.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn begin(
        format: Format,
        name: &'static str,
        columns: &'static [&'static str],
        bom: bool,
        out: &'a mut dyn Write,
    ) -> anyhow::Result<Self> {
        let mut book = None;
        match format {
            Format::Csv => {
                if bom {
                    out.write_all("\u{feff}".as_bytes())?;
                }
                write_row(columns.iter().copied(), out)?;
            }
            Format::Xlsx => book.insert(Book::new()).begin(name, columns.iter().copied())?,
            Format::Json => out.write_all(b"[")?,
            Format::Lines | Format::Ndjson | Format::Sql => {}
        }
        Ok(Self { format, name, columns, out, rows: 0, book })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn push(&mut self, row: &Row) -> anyhow::Result<()> {
        let out = &mut *self.out;
        match self.format {
            Format::Lines if row.json.starts_with('"') => writeln!(out, "{}", row.cells[0])?,
            Format::Lines | Format::Ndjson => writeln!(out, "{}", row.json)?,
            Format::Csv => write_row(row.cells.iter().map(String::as_str), out)?,
            Format::Xlsx => {
                if let Some(book) = &mut self.book {
                    // Write numbers as text, too, because Excel would drop digits of a card number.
                    book.push(row.cells.iter().map(|cell| (cell.as_str(), Shape::Text)))?;
                }
            }
            Format::Json => {
                let before = if self.rows > 0 { ",\n" } else { "\n" };
                write!(out, "{before}{}", row.json)?;
            }
            Format::Sql => {
                let columns = self.columns.iter().map(|name| format!("\"{name}\""));
                let columns = columns.collect::<Vec<_>>().join(", ");
                let values = row.cells.iter().map(|cell| literal(cell)).collect::<Vec<_>>();
                let (name, values) = (self.name, values.join(", "));
                writeln!(out, "INSERT INTO {name} ({columns}) VALUES ({values});")?;
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// Finishes the table.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn end(self) -> anyhow::Result<()> {
        if let Some(book) = self.book {
            book.write_to(&mut *self.out)?;
            return Ok(self.out.flush()?);
        }
        if self.format == Format::Json {
            self.out.write_all(if self.rows > 0 { b"\n]\n" } else { b"]\n" })?;
        }
        self.out.flush()?;
        Ok(())
    }
}

fn write_row<'a>(cells: impl Iterator<Item = &'a str>, out: &mut dyn Write) -> std::io::Result<()> {
    let mut line = Vec::new();
    push_row(cells, &mut line);
    out.write_all(&line)
}

/// Returns an SQL string literal, or `NULL` for an empty cell.
fn literal(cell: &str) -> String {
    if cell.is_empty() { "NULL".to_owned() } else { format!("'{}'", cell.replace('\'', "''")) }
}
