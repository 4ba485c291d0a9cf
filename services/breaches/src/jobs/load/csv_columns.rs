//! Finds the right columns in CSV files.

use std::cell::Cell;
use std::io::{self, BufRead};

use super::address_titles::{self, Choice};
use super::csv_records::{Record, Records};
use super::missing_column::MissingColumn;
use super::secret_names::is_secret;
use super::skip_reason::SkipReason;
use crate::model::{loaded_address, website};

/// The column to read, and whether the file has a header.
pub struct Column {
    /// Column index, starting at 0.
    pub place: usize,
    /// Whether the first row is a header.
    pub header: bool,
}

/// Finds a column: either the one chosen by the operator with `flag`, or the first one whose title
/// is in `names`. Failing that, picks the first one whose cell in the first row is recognized by
/// `looks`.
///
/// # Errors
/// Fails with a message for the operator if several columns have the title.
pub fn find_column(
    first: &Record,
    wanted: Option<&str>,
    flag: &str,
    names: &[&str],
    looks: impl Fn(&[u8]) -> bool,
) -> Result<Option<Column>, MissingColumn> {
    if let Some(number) = wanted.and_then(|wanted| wanted.parse::<usize>().ok()) {
        let place = number.checked_sub(1);
        let cell = place.and_then(|place| Some((place, first.get(place)?)));
        return Ok(cell.map(|(place, cell)| Column { place, header: !looks(cell) }));
    }
    let title = |cell: &[u8]| String::from_utf8_lossy(cell).trim().to_lowercase();
    let titles: Vec<String> = first.iter().map(title).collect();
    let wanted = wanted.map(str::to_lowercase);
    let names = match &wanted {
        Some(wanted) => vec![wanted.as_str()],
        None => names.to_vec(),
    };
    for name in names {
        let same = titles.iter().enumerate().filter(|(_, title)| title.as_str() == name);
        let places: Vec<usize> = same.map(|(place, _)| place).collect();
        match places.as_slice() {
            [] => {}
            [place] => return Ok(Some(Column { place: *place, header: true })),
            _ => return Err(MissingColumn::of_same_titles(first.iter(), &places, flag)),
        }
    }
    match wanted {
        Some(_) => Ok(None),
        None => Ok(first.iter().position(looks).map(|place| Column { place, header: false })),
    }
}

/// Returns `true` if a cell could contain an address. URLs with a user name don't count.
pub fn looks_like_address(cell: &[u8]) -> bool {
    cell.contains(&b'@') && !looks_like_url(cell)
}

/// Returns `true` if a cell contains a URL with a scheme.
pub fn looks_like_url(cell: &[u8]) -> bool {
    memchr::memmem::find(cell, b"://").is_some()
}

/// Rejects a column if its title suggests secrets.
///
/// # Errors
/// Fails with a message for the operator.
pub fn refuse_secrets(first: &Record, place: usize) -> Result<(), MissingColumn> {
    let title = String::from_utf8_lossy(first.get(place).unwrap_or_default());
    if is_secret(&title) { Err(MissingColumn::secret(first.iter(), place)) } else { Ok(()) }
}

/// Limits the number of cells in a row if the column to read may be preceded by a column of
/// secrets. An unquoted delimiter in a secret moves the rest of the secret into the next column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Width {
    /// Number of columns, and number of columns up to and including the one to read. `None` if
    /// there is no limit.
    limit: Option<(usize, usize)>,
    /// Whether rows end in a delimiter although the header doesn't. Decided by the first row.
    ends_in_delimiter: Cell<Option<bool>>,
}

impl Width {
    /// Returns the limit for the rows below a header when the column at `place` is read.
    pub fn of(header: &Record, place: usize) -> Self {
        let has_secrets = |title: &[u8]| is_secret(&String::from_utf8_lossy(title));
        let is_limited = header.iter().take(place).any(has_secrets);
        let limit = is_limited.then(|| (header.iter().count(), place + 1));
        Self { limit, ..Self::default() }
    }

    /// Returns the limit for a file without a header, given its first row and the columns to read.
    /// Any other column before them may contain secrets.
    pub fn without_header(first: &Record, read: &[usize]) -> Self {
        let columns = read.iter().max().map_or(0, |place| place + 1);
        let is_limited = (0..columns).any(|place| !read.contains(&place));
        let limit = is_limited.then(|| (first.iter().count(), columns));
        Self { limit, ..Self::default() }
    }

    /// Returns `false` if the cells of a row may have been shifted.
    ///
    /// Cells after the column to read may have been split at unquoted commas, as in `Main Street 1,
    /// Springfield`. These commas are followed by a space.
    pub fn fits(&self, row: &Record) -> bool {
        let Some((columns, read)) = self.limit else { return true };
        let mut cells = row.iter().count();
        let is_open = row.iter().last().is_some_and(<[u8]>::is_empty);
        let ends = self.ends_in_delimiter.get().unwrap_or(is_open && cells == columns + 1);
        self.ends_in_delimiter.set(Some(ends));
        cells -= usize::from(ends && is_open);
        let is_part = |cell: &&[u8]| cell.starts_with(b" ");
        let parts = match row.iter().take(read).any(|cell| is_part(&cell)) {
            true => 0,
            false => row.iter().skip(read).filter(is_part).count(),
        };
        cells <= columns + parts
    }
}

/// Finds the address column. If no title mentions addresses, it may be titled `username`.
///
/// # Errors
/// Fails if the column is missing, is one of several, or contains secrets.
pub fn find_addresses(first: &Record, wanted: Option<&str>) -> Result<Column, MissingColumn> {
    let missing = || MissingColumn::of(first.iter(), wanted.unwrap_or("of addresses"));
    let mut column = match wanted {
        Some(_) => find_column(first, wanted, "--email-column", &[], looks_like_address)?
            .ok_or_else(missing)?,
        None => {
            let titles: Vec<_> = first.iter().map(String::from_utf8_lossy).collect();
            match address_titles::choose(titles.iter().map(|title| &**title)) {
                Choice::Column(place) => Column { place, header: true },
                Choice::Ambiguous(places) => {
                    return Err(MissingColumn::ambiguous_addresses(first.iter(), &places));
                }
                Choice::Missing => {
                    let place = first.iter().position(looks_like_address).ok_or_else(missing)?;
                    Column { place, header: false }
                }
            }
        }
    };
    if column.header {
        refuse_secrets(first, column.place)?;
    } else if wanted.is_none()
        && let Some(place) = first.iter().position(is_likely_address)
    {
        // The cell before it may be a password that contains an `@`.
        column.place = place;
    }
    Ok(column)
}

/// Rejects a file without a header if several cells of its first row are addresses. One of them may
/// be a secret such as `p@ss.me`.
///
/// # Errors
/// Fails with a message for the operator.
pub fn refuse_several_addresses(first: &Record) -> Result<(), MissingColumn> {
    let cells = first.iter().enumerate().filter(|(_, cell)| is_likely_address(cell));
    let places: Vec<usize> = cells.map(|(place, _)| place).collect();
    match places.len() > 1 {
        true => Err(MissingColumn::ambiguous_addresses(first.iter(), &places)),
        false => Ok(()),
    }
}

/// Returns the name of the address column, for reports. Only titles that the operator or this
/// program knows are shown, since the first row may contain secrets.
pub fn shown_name(first: &Record, column: &Column, wanted: Option<&str>) -> String {
    let is_known = column.header && wanted.is_none_or(|wanted| wanted.parse::<usize>().is_err());
    match first.get(column.place).filter(|_| is_known) {
        Some(title) => String::from_utf8_lossy(title).trim().to_owned(),
        None => format!("column {}", column.place + 1),
    }
}

/// Returns `true` if a cell is an address whose domain ends in a top-level domain.
fn is_likely_address(cell: &[u8]) -> bool {
    let address = std::str::from_utf8(cell).ok().and_then(|text| loaded_address::parse(text).ok());
    address.is_some_and(|address| website::is_possible(address.domain()))
}

/// Receives each record with its line number and the columns that were found, or the reason it was
/// skipped.
type EachRow<'e, C> = &'e mut dyn FnMut(u64, Result<(&Record, &C), SkipReason>) -> io::Result<()>;

/// Reads the records of a CSV file. `find` receives the first record, picks the columns, and
/// decides whether this record is a header.
pub fn each_row<C>(
    input: impl BufRead,
    delimiter: Option<&str>,
    find: impl Fn(&Record) -> io::Result<(C, bool)>,
    each: EachRow<'_, C>,
) -> io::Result<()> {
    let mut records = Records::new(input, delimiter);
    let mut columns = None;
    while let Some((line, record)) = records.next_record(|line, reason| each(line, Err(reason)))? {
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

/// Returns a cell as text.
///
/// # Errors
/// Fails if the row doesn't have the cell or if the cell isn't UTF-8.
pub fn text_cell(record: &Record, place: usize) -> Result<&str, SkipReason> {
    let cell = record.get(place).ok_or(SkipReason::Column)?;
    std::str::from_utf8(cell).map_err(|_| SkipReason::Encoding)
}
