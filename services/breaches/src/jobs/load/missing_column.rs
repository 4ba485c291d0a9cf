//! The error for a column that a CSV file does not have.

use std::fmt;
use std::io;

/// Maximum number of columns listed, and of characters displayed per name.
const LISTED: (usize, usize) = (40, 32);

/// The first row does not contain the wanted column.
#[derive(Debug)]
pub struct MissingColumn {
    /// The error message, which does not quote the file.
    what: String,
    /// Advice for the operator, which follows the message.
    hint: &'static str,
    /// Names of the columns. Empty if the first row is not a header.
    seen: Vec<String>,
    columns: usize,
}

impl MissingColumn {
    /// Creates the error for a column that the operator named or that is searched for.
    pub fn of<'c>(first: impl Iterator<Item = &'c [u8]> + Clone, wanted: &str) -> Self {
        Self::new(first, format!("the CSV file has no column {wanted}"), "")
    }

    /// Creates the error for a file without a known column of websites.
    pub fn of_websites<'c>(first: impl Iterator<Item = &'c [u8]> + Clone) -> Self {
        let hint = ". --website-column names the column of the websites; a file without a header \
                    needs it unless one column contains URLs with ://. Lines such as \
                    https://shop/login:address:secret need --format ulp";
        Self::new(first, "the CSV file has no known column of websites".to_owned(), hint)
    }

    /// Creates the error for a file without a header whose column of URLs may contain passwords.
    pub fn ambiguous_websites<'c>(first: impl Iterator<Item = &'c [u8]> + Clone) -> Self {
        let hint = ". --website-column names the column of the websites";
        let what = "the columns of the CSV file may contain websites or passwords".to_owned();
        Self::new(first, what, hint)
    }

    /// Creates the error for a column of secrets, given its index (from 0).
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
        // The cells of data rows must not be shown.
        let is_data = first.clone().any(|cell| cell.contains(&b'@'));
        let listed = if is_data { 0 } else { LISTED.0 };
        let names = first.clone().take(listed).map(shown).collect();
        Self { what, hint, seen: names, columns: first.count() }
    }

    /// Returns the error for a job's record. It does not quote the file.
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
            // The cells are probably separated by a different character.
            return match columns {
                1 => write!(
                    f,
                    ". --delimiter sets the separator of the columns; lines such as \
                     https://shop/login:address:secret need stealer-logs load --format ulp"
                ),
                _ => Ok(()),
            };
        }
        write!(f, "{what}; its first row has")?;
        for (place, name) in (1..).zip(&self.seen) {
            write!(f, "{} {place} {name}", if place == 1 { "" } else { "," })?;
        }
        write!(f, "{hint}. A column may also be given by number; --delimiter sets the separator")
    }
}

impl std::error::Error for MissingColumn {}

impl From<MissingColumn> for io::Error {
    fn from(missing: MissingColumn) -> Self {
        Self::other(missing)
    }
}
