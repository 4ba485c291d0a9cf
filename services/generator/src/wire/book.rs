//! Excel workbooks, written row by row.

use std::collections::HashSet;
use std::io::{self, Seek, Write};

use anyhow::{Context, ensure};
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook, Worksheet, XlsxError};

use crate::model::records::{Schema, Shape};

/// Maximum number of rows per sheet, including the header.
const ROWS: u32 = 1 << 20;
/// Maximum length of a cell's text in UTF-16 code units, which Excel counts as characters.
const LONGEST: usize = 32_767;
/// Maximum length of a sheet name in characters.
const NAME: usize = 31;
/// A sheet name, in lower case, that Excel reserves. Excel reports files with such a sheet as
/// damaged.
const RESERVED: &str = "history";
/// Maximum number of digits in a number, because Excel would drop further ones.
const DIGITS: usize = 15;

pub struct Book {
    workbook: Workbook,
    sheets: usize,
    /// Sheet names that are taken or reserved, in lower case.
    names: HashSet<String>,
    row: u32,
    /// Whether rows are kept in temporary files until the end.
    is_on_disk: bool,
}

impl Book {
    /// Creates a workbook without any sheets. It takes constant memory.
    pub fn new() -> Self {
        Self {
            workbook: Workbook::new(),
            sheets: 0,
            names: HashSet::from([RESERVED.to_owned()]),
            row: 0,
            is_on_disk: true,
        }
    }

    /// Creates a workbook for a few rows, which are kept in memory.
    pub fn in_memory() -> Self {
        Self { is_on_disk: false, ..Self::new() }
    }

    /// Starts a sheet and writes its header.
    ///
    /// # Errors
    /// Returns an error if the sheet's temporary file can't be created.
    pub fn begin<'a>(
        &mut self,
        name: &str,
        columns: impl Iterator<Item = &'a str>,
    ) -> anyhow::Result<()> {
        let allowed = |letter: char| if "[]:*?/\\'".contains(letter) { '_' } else { letter };
        let stem: String = name.chars().map(allowed).take(NAME).collect();
        // Append a number if the name clashes with another one, which happens if they only differ
        // in letter case or in characters that were cut off or replaced.
        let mut name = stem.clone();
        let mut number = 1;
        while !self.names.insert(name.to_lowercase()) {
            number += 1;
            let end = format!("-{number}");
            name = stem.chars().take(NAME - end.len()).collect::<String>() + &end;
        }
        let sheet = match self.is_on_disk {
            true => self.workbook.add_worksheet_with_constant_memory(),
            false => self.workbook.add_worksheet(),
        };
        sheet.set_name(&name)?;
        (self.sheets, self.row) = (self.sheets + 1, 0);
        self.push(columns.map(|column| (column, Shape::Text)))
    }

    /// Appends a row of strings with their types. Numbers and booleans become cells of that type,
    /// and everything else becomes text.
    ///
    /// # Errors
    /// Returns an error if there are too many rows, or if a string has more than 32,767 characters.
    pub fn push<'a>(
        &mut self,
        cells: impl Iterator<Item = (&'a str, Shape)>,
    ) -> anyhow::Result<()> {
        let row = self.row;
        ensure!(row < ROWS, "a sheet can have at most {} rows: use csv, or --offset", ROWS - 1);
        let sheet = self.sheet()?;
        for (column, (text, shape)) in (0..).zip(cells) {
            // Check the length in bytes first. It is cheap, and never less than the UTF-16 length.
            ensure!(
                text.len() <= LONGEST || text.encode_utf16().count() <= LONGEST,
                "row {row} has a text of more than {LONGEST} characters, which no cell can hold: \
                 use csv"
            );
            let is_number = shape == Shape::Number && text.len() <= DIGITS;
            let number = text.parse::<f64>().ok().filter(|_| is_number);
            match number {
                Some(number) => sheet.write_number(row, column, number)?,
                None if text.is_empty() => continue,
                None if shape == Shape::Boolean => {
                    sheet.write_boolean(row, column, text == "true")?
                }
                None => sheet.write_string(row, column, text)?,
            };
        }
        self.row += 1;
        Ok(())
    }

    fn sheet(&mut self) -> anyhow::Result<&mut Worksheet> {
        let last =
            self.sheets.checked_sub(1).context("the workbook does not contain any sheets")?;
        Ok(self.workbook.worksheet_from_index(last)?)
    }

    /// Returns whether the error was caused by the disk rather than by the content.
    pub fn is_fault_of_disk(error: &anyhow::Error) -> bool {
        matches!(error.downcast_ref(), Some(XlsxError::IoError(_) | XlsxError::ZipError(_)))
    }

    /// Finishes the workbook and returns the file.
    ///
    /// # Errors
    /// Returns an error if the temporary files can't be read.
    pub fn into_bytes(mut self) -> anyhow::Result<Vec<u8>> {
        self.set_created()?;
        Ok(self.workbook.save_to_buffer()?)
    }

    /// Finishes the workbook and writes the file, which is assembled on disk because it may not fit
    /// into memory.
    ///
    /// # Errors
    /// Returns an error if a temporary file can't be written or read, or if `out` can't be written.
    pub fn write_to(mut self, out: &mut dyn Write) -> anyhow::Result<()> {
        self.set_created()?;
        let mut file = tempfile::tempfile().context("cannot create a temporary file")?;
        self.workbook.save_to_writer(&file)?;
        file.rewind()?;
        io::copy(&mut file, out)?;
        Ok(())
    }

    /// Sets a fixed creation time. With the current time, the same rows would result in different
    /// files.
    fn set_created(&mut self) -> anyhow::Result<()> {
        let created = ExcelDateTime::from_ymd(2030, 1, 1)?;
        self.workbook.set_properties(&DocProperties::new().set_creation_datetime(&created));
        Ok(())
    }
}

/// Creates a workbook with a sheet for one table, or for each table. `part` is the number of rows
/// to skip and the maximum number of rows to write. The workbook can contain up to `most_bytes`
/// bytes of text. Also returns the number of rows written.
///
/// # Errors
/// Returns an error if the table is unknown, there are too many rows, a string is too long, or the
/// disk is full, since rows are kept in temporary files until the end.
pub fn fill_book(
    schema: &Schema,
    wanted: Option<&str>,
    part: (u64, Option<u64>),
    most_bytes: usize,
) -> anyhow::Result<(Book, u64)> {
    let mut book = Book::new();
    let (mut bytes, mut written) = (0_usize, 0);
    let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted == name);
    for table in schema.tables.iter().filter(|table| is_wanted(&table.name)) {
        book.begin(&table.name, table.columns())?;
        let (first, count) = if wanted.is_none() { table.asked(part) } else { part };
        let mut rows = table.part(first, count);
        while let Some(cells) = rows.make_next() {
            bytes = cells.iter().fold(bytes, |sum, cell| sum.saturating_add(cell.text.len()));
            ensure!(
                bytes <= most_bytes,
                "a workbook can have at most {most_bytes} bytes of text here: use csv"
            );
            let cells = cells.iter();
            book.push(cells.map(|cell| (cell.as_text().unwrap_or_default(), cell.shape)))?;
            written += 1;
        }
    }
    ensure!(book.sheets > 0, "no table of the schema has this name");
    Ok((book, written))
}

#[cfg(test)]
mod tests {
    use super::Book;

    #[test]
    fn name_that_excel_reserves_gets_a_number() {
        let mut book = Book::in_memory();
        for name in ["History", "history", "histories"] {
            book.begin(name, ["a"].into_iter()).unwrap();
        }
        let names: Vec<_> = book.workbook.worksheets().iter().map(|sheet| sheet.name()).collect();
        assert_eq!(names, ["History-2", "history-3", "histories"]);
    }
}
