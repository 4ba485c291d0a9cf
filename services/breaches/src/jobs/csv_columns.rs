//! Which columns of a CSV file hold what.

use std::fmt;
use std::io::{self, BufRead};

use super::csv_records::{Record, Records};
use super::skip_reason::SkipReason;

/// Columns that a message lists, and the letters that it shows of each name.
const LISTED: (usize, usize) = (40, 32);

/// Which column holds something, and whether the first row is a header.
pub struct Column {
    /// Place of the column, from 0.
    pub place: usize,
    /// Whether the first row names columns.
    pub header: bool,
}

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
    pub fn of(first: &Record, wanted: &str) -> Self {
        let visible = |c: char| if c.is_control() { ' ' } else { c };
        let shown = |cell: &[u8]| {
            let name = String::from_utf8_lossy(cell);
            name.trim().chars().take(LISTED.1).map(visible).collect()
        };
        // A row of data is nobody's to read.
        let is_data = first.iter().any(looks_like_address);
        let listed = if is_data { 0 } else { LISTED.0 };
        let seen = first.iter().take(listed).map(shown).collect();
        Self { wanted: wanted.to_owned(), seen, columns: first.iter().count() }
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

/// Finds a column by what the operator named, else by usual names, the first of them that occurs;
/// `looks` recognises data cells.
pub fn find_column(
    first: &Record,
    wanted: Option<&str>,
    names: &[&str],
    looks: impl Fn(&[u8]) -> bool,
) -> Option<Column> {
    let titles = || first.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_lowercase());
    if let Some(wanted) = wanted {
        if let Ok(number) = wanted.parse::<usize>() {
            let place = number.checked_sub(1)?;
            return Some(Column { place, header: !first.get(place).is_some_and(looks) });
        }
        let wanted = wanted.to_lowercase();
        return titles()
            .position(|title| title == wanted)
            .map(|place| Column { place, header: true });
    }
    let named = names.iter().find_map(|name| titles().position(|title| title == *name));
    if let Some(place) = named {
        return Some(Column { place, header: true });
    }
    first.iter().position(looks).map(|place| Column { place, header: false })
}

fn looks_like_address(cell: &[u8]) -> bool {
    cell.contains(&b'@')
}

/// Finds the column of addresses. A file of logins has them where its header says `username`.
pub fn find_addresses(first: &Record, wanted: Option<&str>) -> Result<Column, MissingColumn> {
    const NAMES: [&str; 11] = [
        "email",
        "e-mail",
        "mail",
        "email address",
        "email_address",
        "emailaddress",
        "e-mail address",
        "username",
        "user",
        "login",
        "user name",
    ];
    find_column(first, wanted, &NAMES, looks_like_address)
        .ok_or_else(|| MissingColumn::of(first, wanted.unwrap_or("of addresses")))
}

/// What a reader of CSV reports: line number, and the record with the columns that were found.
type EachRow<'e, C> = &'e mut dyn FnMut(u64, Result<(&Record, &C), SkipReason>) -> io::Result<()>;

/// Reads the records of a CSV file. `find` finds the columns by the first record and says whether
/// that is a header.
pub fn each_row<C>(
    input: impl BufRead,
    delimiter: u8,
    find: impl Fn(&Record) -> io::Result<(C, bool)>,
    each: EachRow<'_, C>,
) -> io::Result<()> {
    let mut records = Records::new(input, delimiter);
    let mut columns = None;
    while let Some((line, record)) = records.next_record()? {
        let record = match record {
            Ok(record) => record,
            Err(reason) => {
                each(line, Err(reason))?;
                continue;
            }
        };
        if let Some(columns) = &columns {
            each(line, Ok((record, columns)))?;
            continue;
        }
        let (found, is_header) = find(record)?;
        if !is_header {
            each(line, Ok((record, &found)))?;
        }
        columns = Some(found);
    }
    Ok(())
}

/// The text of a cell.
pub fn text_cell(record: &Record, place: usize) -> Result<&str, SkipReason> {
    let cell = record.get(place).ok_or(SkipReason::Column)?;
    std::str::from_utf8(cell).map_err(|_| SkipReason::Encoding)
}
