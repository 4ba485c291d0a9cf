//! The error for CSV files that don't have the right column.

use std::fmt;
use std::io;

/// Maximum number of columns to list, and of characters per name.
const LISTED: (usize, usize) = (40, 32);

/// The first row doesn't have the column we're looking for.
#[derive(Debug)]
pub struct MissingColumn {
    /// Error message without anything from the file.
    what: String,
    /// Advice for the operator, appended to the message.
    hint: &'static str,
    /// Column names. Empty if the first row isn't a header.
    seen: Vec<String>,
    columns: usize,
}

impl MissingColumn {
    /// The column requested by the operator, or the address column, is missing.
    pub fn of<'c>(first: impl Iterator<Item = &'c [u8]> + Clone, wanted: &str) -> Self {
        Self::new(first, format!("the CSV file does not have a column {wanted}"), "")
    }

    /// There is no column that we recognize as the website column.
    pub fn of_websites<'c>(first: impl Iterator<Item = &'c [u8]> + Clone) -> Self {
        let hint = ". --website-column names the website column; a file without a header needs it \
                    unless one column contains URLs with ://. Lines such as \
                    https://shop/login:address:secret need --format ulp";
        Self::new(first, "the CSV file does not have a known website column".to_owned(), hint)
    }

    /// The file doesn't have a header, and its URL column might contain passwords.
    pub fn ambiguous_websites<'c>(first: impl Iterator<Item = &'c [u8]> + Clone) -> Self {
        let hint = ". --website-column names the website column";
        let what = "the columns of the CSV file may contain websites or passwords".to_owned();
        Self::new(first, what, hint)
    }

    /// The column at this index (from 0) contains secrets.
    pub fn secret<'c>(first: impl Iterator<Item = &'c [u8]> + Clone, place: usize) -> Self {
        let what = format!("column {} of the CSV file contains secrets and is not read", place + 1);
        Self::new(first, what, "")
    }

    fn new<'c>(
        first: impl Iterator<Item = &'c [u8]> + Clone,
        what: String,
        hint: &'static str,
    ) -> Self {
        let visible = |c: char| if c.is_control() { ' ' } else { c };
        let shown = |cell: &[u8]| {
            let name = String::from_utf8_lossy(cell);
            name.trim().chars().take(LISTED.1).map(visible).collect()
        };
        // Never show the contents of data rows, such as `name:secret` or a URL.
        let is_data = first.clone().any(|cell| cell.contains(&b'@') || cell.contains(&b':'));
        let listed = if is_data { 0 } else { LISTED.0 };
        let names = first.clone().take(listed).map(shown).collect();
        Self { what, hint, seen: names, columns: first.count() }
    }

    /// Message to store with the job, without anything from the file.
    pub fn without_names(&self) -> String {
        self.what.clone()
    }
}

impl fmt::Display for MissingColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, hint, columns, .. } = self;
        if self.seen.is_empty() {
            let plural = if *columns == 1 { "column" } else { "columns" };
            write!(f, "{what}; its first row has {columns} {plural} and no names{hint}")?;
            // A single column suggests that the delimiter is wrong.
            return match columns {
                1 => write!(
                    f,
                    ". --delimiter sets the column separator; lines such as \
                     https://shop/login:address:secret need stealer-logs load --format ulp"
                ),
                _ => Ok(()),
            };
        }
        write!(f, "{what}; its first row has")?;
        for (place, name) in (1..).zip(&self.seen) {
            write!(f, "{} {place} {name}", if place == 1 { "" } else { "," })?;
        }
        write!(f, "{hint}. A column can also be given by number; --delimiter sets the separator")
    }
}

impl std::error::Error for MissingColumn {}

impl From<MissingColumn> for io::Error {
    fn from(missing: MissingColumn) -> Self {
        Self::other(missing)
    }
}
