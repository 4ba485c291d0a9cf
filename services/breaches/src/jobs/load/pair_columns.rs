//! Finds the address and website columns of a stealer log in CSV format.

use std::collections::BTreeMap;

use super::csv_columns::{self, Column, Width, looks_like_url};
use super::csv_records::Record;
use super::missing_column::MissingColumn;
use super::skip_reason::SkipReason;
use crate::model::{loaded_address, website};

/// Titles of website columns in exports from browsers and password managers.
const WEBSITE_TITLES: [&str; 22] = [
    "website",
    "websites",
    "web site",
    "web_site",
    "url",
    "urls",
    "site",
    "host",
    "hostname",
    "domain",
    "uri",
    "login_uri",
    "login uri",
    "login_url",
    "login url",
    "origin_url",
    "origin url",
    "origin",
    "action_url",
    "signon_realm",
    "web address",
    "website url",
];

/// Columns requested by the operator, by title or number (from 1).
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The address column.
    pub email: Option<&'a str>,
    pub website: Option<&'a str>,
}

/// Columns of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct PairColumns {
    email: usize,
    website: usize,
    /// Number of cells that each row must have. Set if the website column was inferred from its
    /// cells.
    cells: Option<usize>,
    /// Limit on the number of cells in each row.
    width: Width,
}

impl PairColumns {
    /// Finds the columns by the header or the operator's choice. Also returns whether the first row
    /// is a header. Returns `None` if there is no header and the operator didn't choose a website
    /// column.
    ///
    /// # Errors
    /// Fails if a requested column is missing, contains secrets or has the same title as another, or
    /// if there is a header without a well-known website column.
    pub fn named(
        first: &Record,
        wanted: Wanted<'_>,
    ) -> Result<Option<(Self, bool)>, MissingColumn> {
        let Column { place: email, header } = csv_columns::find_addresses(first, wanted.email)?;
        let flag = "--website-column";
        let found =
            csv_columns::find_column(first, wanted.website, flag, &WEBSITE_TITLES, |_| false)?;
        let website = match (found, wanted.website) {
            (Some(column), _) => column.place,
            (None, Some(title)) => return Err(MissingColumn::of(first.iter(), title)),
            // Don't guess if the header doesn't help, because the column could contain passwords.
            (None, None) if header => return Err(MissingColumn::of_websites(first.iter())),
            (None, None) => return Ok(None),
        };
        let width = if header {
            csv_columns::refuse_secrets(first, website)?;
            Width::of(first, email.max(website))
        } else {
            Width::without_header(first, &[email, website])
        };
        Ok(Some((Self { email, website, cells: None, width }, header)))
    }

    /// Infers the columns of a file without a header from its first rows.
    ///
    /// At least half of the rows must have a URL in the website column. Because passwords can look
    /// like URLs, no other column may have more than half as many.
    ///
    /// # Errors
    /// Fails if there is no website column or more than one candidate.
    pub fn by_cells(rows: &[Record], wanted: Wanted<'_>) -> Result<Self, MissingColumn> {
        let Some(first) = rows.first() else {
            return Err(MissingColumn::of_websites([].into_iter()));
        };
        let cells = usual_width(rows);
        let count = |place: usize, matches: fn(&[u8]) -> bool| {
            rows.iter().filter_map(|row| row.get(place)).filter(|cell| matches(cell)).count()
        };
        let mut email = csv_columns::find_addresses(first, wanted.email)?.place;
        if wanted.email.is_none() {
            for place in 0..cells {
                if count(place, is_address) > count(email, is_address) {
                    email = place;
                }
            }
        }
        let mut urls: Vec<(usize, usize)> = (0..cells)
            .filter(|place| *place != email)
            .map(|place| (count(place, looks_like_url), place))
            .filter(|(urls, _)| *urls > 0)
            .collect();
        urls.sort_unstable();
        let Some((most, website)) = urls.pop().filter(|(most, _)| most * 2 >= rows.len()) else {
            return Err(MissingColumn::of_websites(first.iter()));
        };
        // With only two columns, websites can't be distinguished from passwords that look like
        // URLs.
        if cells == 2 {
            return Err(MissingColumn::ambiguous_websites(first.iter()));
        }
        let rival = urls.last().is_some_and(|(next, _)| next * 2 > most);
        // If the websites have no scheme, the only URLs might be in the password column, which
        // usually comes after the addresses.
        let hosts = |place: usize| count(place, is_host) * 2 >= rows.len();
        let bare = website > email && (0..email).chain(website + 1..cells).any(hosts);
        if rival || bare {
            return Err(MissingColumn::ambiguous_websites(first.iter()));
        }
        Ok(Self { email, website, cells: Some(cells), width: Width::default() })
    }

    /// Returns a row's address and website.
    ///
    /// # Errors
    /// Fails if a cell is missing, or if cells may have been shifted.
    pub fn pair<'r>(&self, row: &'r Record) -> Result<(&'r str, &'r str), SkipReason> {
        let email = csv_columns::text_cell(row, self.email)?;
        let website = csv_columns::text_cell(row, self.website)?;
        if !self.width.fits(row) {
            return Err(SkipReason::Column);
        }
        let Some(cells) = self.cells else { return Ok((email, website)) };
        // A delimiter in a password moves the rest of the password into the next column.
        if row.iter().count() != cells {
            return Err(SkipReason::Column);
        }
        match looks_like_url(website.as_bytes()) {
            true => Ok((email, website)),
            false => Err(SkipReason::Website),
        }
    }
}

/// Returns the most common number of cells per row.
fn usual_width(rows: &[Record]) -> usize {
    let mut widths: BTreeMap<usize, usize> = BTreeMap::new();
    for row in rows {
        *widths.entry(row.iter().count()).or_default() += 1;
    }
    widths.into_iter().max_by_key(|(_, rows)| *rows).map_or(0, |(width, _)| width)
}

fn is_address(cell: &[u8]) -> bool {
    csv_columns::looks_like_address(cell)
        && std::str::from_utf8(cell).is_ok_and(|text| loaded_address::parse(text).is_ok())
}

fn is_host(cell: &[u8]) -> bool {
    std::str::from_utf8(cell).is_ok_and(|text| website::host(text).is_some())
}
