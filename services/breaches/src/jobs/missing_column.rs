//! A message about a column that a CSV file does not have.

use std::fmt;
use std::io;

/// Columns that a message lists, and the letters that it shows of each name.
const LISTED: (usize, usize) = (40, 32);

/// No column of the first row is the one that is wanted.
#[derive(Debug)]
pub struct MissingColumn {
    wanted: String,
    /// Names of the columns; none where the first row does not name them.
    seen: Vec<String>,
    columns: usize,
}

impl MissingColumn {
    /// Of the first row of a file; `wanted` is what the operator named, or what is looked for.
    pub fn of<'c>(first: impl Iterator<Item = &'c [u8]> + Clone, wanted: &str) -> Self {
        let visible = |c: char| if c.is_control() { ' ' } else { c };
        let shown = |cell: &[u8]| {
            let name = String::from_utf8_lossy(cell);
            name.trim().chars().take(LISTED.1).map(visible).collect()
        };
        // A row of data is nobody's to read.
        let is_data = first.clone().any(|cell| cell.contains(&b'@'));
        let listed = if is_data { 0 } else { LISTED.0 };
        let seen = first.clone().take(listed).map(shown).collect();
        Self { wanted: wanted.to_owned(), seen, columns: first.count() }
    }

    /// The same as a sentence for the record of a job, which keeps nothing of what a file says.
    pub fn without_names(&self) -> String {
        format!("the CSV file has no column {}", self.wanted)
    }
}

impl fmt::Display for MissingColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (wanted, columns) = (self.without_names(), self.columns);
        if self.seen.is_empty() {
            return write!(f, "{wanted}; its first row has {columns} columns and names none");
        }
        write!(f, "{wanted}; its first row has")?;
        for (place, name) in (1..).zip(&self.seen) {
            write!(f, "{} {place} {name}", if place == 1 { "" } else { "," })?;
        }
        write!(f, ". Columns may be named by number, and --delimiter says what separates them")
    }
}

impl std::error::Error for MissingColumn {}

impl From<MissingColumn> for io::Error {
    fn from(missing: MissingColumn) -> Self {
        Self::other(missing)
    }
}
