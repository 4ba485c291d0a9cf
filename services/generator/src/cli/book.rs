//! Workbooks of Excel, written row by row in constant memory.

use std::io::Write;

use anyhow::{Context, ensure};
use rust_xlsxwriter::{Workbook, Worksheet};

/// Maximum number of rows of a sheet, with its header.
const ROWS: u32 = 1 << 20;
/// Maximum number of characters of a sheet's name.
const NAME: usize = 31;
/// Numbers with more digits would lose some in Excel.
const DIGITS: usize = 15;

/// A workbook.
pub struct Book {
    workbook: Workbook,
    sheets: usize,
    row: u32,
}

impl Book {
    /// Creates a workbook without sheets.
    pub fn new() -> Self {
        Self { workbook: Workbook::new(), sheets: 0, row: 0 }
    }

    /// Begins a sheet with a header.
    ///
    /// # Errors
    /// The name is that of another sheet.
    pub fn begin<'a>(
        &mut self,
        name: &str,
        columns: impl Iterator<Item = &'a str>,
    ) -> anyhow::Result<()> {
        let allowed = |letter: char| if "[]:*?/\\'".contains(letter) { '_' } else { letter };
        let name: String = name.chars().map(allowed).take(NAME).collect();
        self.workbook.add_worksheet_with_constant_memory().set_name(&name)?;
        (self.sheets, self.row) = (self.sheets + 1, 0);
        self.push(columns.map(|column| (column, false)))
    }

    /// Appends a row of texts; those marked as numbers become numbers.
    ///
    /// # Errors
    /// Too many rows, or a text of more than 32,767 characters.
    pub fn push<'a>(&mut self, cells: impl Iterator<Item = (&'a str, bool)>) -> anyhow::Result<()> {
        let row = self.row;
        ensure!(row < ROWS, "a sheet has at most {} rows: use csv, or --offset", ROWS - 1);
        let sheet = self.sheet()?;
        for (column, (text, is_number)) in (0..).zip(cells) {
            let number = text.parse::<f64>().ok().filter(|_| is_number && text.len() <= DIGITS);
            match number {
                Some(number) => sheet.write_number(row, column, number)?,
                None if text.is_empty() => continue,
                None => sheet.write_string(row, column, text)?,
            };
        }
        self.row += 1;
        Ok(())
    }

    fn sheet(&mut self) -> anyhow::Result<&mut Worksheet> {
        let last = self.sheets.checked_sub(1).context("the workbook has no sheet")?;
        Ok(self.workbook.worksheet_from_index(last)?)
    }

    /// Writes the workbook.
    ///
    /// # Errors
    /// An unwritable output.
    pub fn save(mut self, out: &mut dyn Write) -> anyhow::Result<()> {
        let bytes = self.workbook.save_to_buffer()?;
        out.write_all(&bytes)?;
        out.flush()?;
        Ok(())
    }
}
