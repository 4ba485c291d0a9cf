//! Which columns of a CSV file hold what.

use std::io::{self, BufRead};

use super::csv_records::{Record, Records};
use super::missing_column::MissingColumn;
use super::skip_reason::SkipReason;

/// Which column holds something, and whether the first row is a header.
pub struct Column {
    /// Place of the column, from 0.
    pub place: usize,
    /// Whether the first row names columns.
    pub header: bool,
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
        .ok_or_else(|| MissingColumn::of(first.iter(), wanted.unwrap_or("of addresses")))
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
