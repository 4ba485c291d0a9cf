//! A message about a column that a CSV file does not have.

use std::fmt;
use std::io;

/// Columns that a message lists, and the letters that it shows of each name.
const LISTED: (usize, usize) = (40, 32);

/// No column of the first row is the one that is wanted.
#[derive(Debug)]
pub struct MissingColumn {
    /// What is wrong, without anything that the file says.
    what: String,
    /// What to do, where more can be said than that columns may be named.
    hint: &'static str,
    /// Names of the columns; none where the first row does not name them.
    seen: Vec<String>,
    columns: usize,
}

impl MissingColumn {
    /// Of the first row of a file; `wanted` is what the operator named, or what is looked for.
    pub fn of<'c>(first: impl Iterator<Item = &'c [u8]> + Clone, wanted: &str) -> Self {
        Self::new(first, format!("the CSV file has no column {wanted}"), "")
    }

    /// Of a file in which no column is known to hold websites.
    pub fn of_websites<'c>(first: impl Iterator<Item = &'c [u8]> + Clone) -> Self {
        let hint = ". --website-column names the column of the websites; a file without a header \
                    needs it unless one column holds URLs with ://";
        Self::new(first, "the CSV file has no column known to hold websites".to_owned(), hint)
    }

    /// Of a file without a header in which several columns may hold websites. One of them may hold
    /// passwords.
    pub fn ambiguous_websites<'c>(first: impl Iterator<Item = &'c [u8]> + Clone) -> Self {
        let hint = ". --website-column names the column of the websites";
        let what = "more than one column of the CSV file may hold websites".to_owned();
        Self::new(first, what, hint)
    }

    /// Of a column that holds secrets, by its place from 0.
    pub fn secret<'c>(first: impl Iterator<Item = &'c [u8]> + Clone, place: usize) -> Self {
        let what = format!("column {} of the CSV file holds secrets and is never read", place + 1);
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
        // A row of data is nobody's to read.
        let is_data = first.clone().any(|cell| cell.contains(&b'@'));
        let listed = if is_data { 0 } else { LISTED.0 };
        let seen = first.clone().take(listed).map(shown).collect();
        Self { what, hint, seen, columns: first.count() }
    }

    /// The same as a sentence for the record of a job, which keeps nothing of what a file says.
    pub fn without_names(&self) -> String {
        self.what.clone()
    }
}

impl fmt::Display for MissingColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, hint, columns, .. } = self;
        if self.seen.is_empty() {
            write!(f, "{what}; its first row has {columns} columns and names none{hint}")?;
            // The cells are probably separated by another character.
            return match columns {
                1 => write!(f, ". --delimiter says what separates the columns"),
                _ => Ok(()),
            };
        }
        write!(f, "{what}; its first row has")?;
        for (place, name) in (1..).zip(&self.seen) {
            write!(f, "{} {place} {name}", if place == 1 { "" } else { "," })?;
        }
        write!(
            f,
            "{hint}. Columns may be named by number, and --delimiter says what separates them"
        )
    }
}

impl std::error::Error for MissingColumn {}

impl From<MissingColumn> for io::Error {
    fn from(missing: MissingColumn) -> Self {
        Self::other(missing)
    }
}
