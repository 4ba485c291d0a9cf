//! The error for CSV files and SQL dumps that lack the required column.

use std::fmt;
use std::io;

/// The file doesn't have the required column.
#[derive(Debug)]
pub struct MissingColumn {
    /// Error message, without anything from the file.
    what: String,
    /// Details and advice for the operator, appended to the message.
    more: String,
}

impl MissingColumn {
    /// The column requested by the operator, or the address column, is missing.
    pub fn of<'c>(first: impl Iterator<Item = &'c [u8]>, wanted: &str) -> Self {
        Self::of_csv(first, format!("the CSV file does not have a column {wanted}"), "")
    }

    /// None of the columns is recognized as the website column.
    pub fn of_websites<'c>(first: impl Iterator<Item = &'c [u8]>) -> Self {
        let hint = ". --website-column names the website column; a file without a header needs it \
                    unless one column contains URLs with ://. Lines such as \
                    https://shop/login:address:secret need --format ulp";
        Self::of_csv(first, "the CSV file does not have a known website column".to_owned(), hint)
    }

    /// The file doesn't have a header, and its URL column might contain passwords.
    pub fn ambiguous_websites<'c>(first: impl Iterator<Item = &'c [u8]>) -> Self {
        let hint = ". --website-column names the website column";
        let what = "the columns of the CSV file may contain websites or passwords".to_owned();
        Self::of_csv(first, what, hint)
    }

    /// Any of the columns at these indexes (from 0) could contain the addresses.
    pub fn ambiguous_addresses<'c>(
        first: impl Iterator<Item = &'c [u8]>,
        places: &[usize],
    ) -> Self {
        let numbers = numbers(places);
        let what = format!("columns {numbers} of the CSV file may contain the addresses");
        Self::of_csv(first, what, ". --email-column names the column to read")
    }

    /// The columns at these indexes (from 0) have the same title. `flag` chooses one of them.
    pub fn of_same_titles<'c>(
        first: impl Iterator<Item = &'c [u8]>,
        places: &[usize],
        flag: &str,
    ) -> Self {
        let numbers = numbers(places);
        let what = format!("columns {numbers} of the CSV file have the same title");
        let place = places.first().map_or(1, |place| place + 1);
        Self::of_csv(first, what, &format!(". {flag} {place} reads the first of them"))
    }

    /// Several columns of a dump's table could contain the addresses.
    pub fn ambiguous_in_table(table: &str, columns: &[&str]) -> Self {
        let first = columns.first().copied().unwrap_or_default();
        Self {
            what: "several columns of a table may contain the addresses".to_owned(),
            more: format!(
                ": {} of {table}. Name one with --column, as in --column {table}.{first}",
                columns.join(" and ")
            ),
        }
    }

    /// The column at this index (from 0) contains secrets.
    pub fn secret<'c>(first: impl Iterator<Item = &'c [u8]>, place: usize) -> Self {
        let what = format!("column {} of the CSV file contains secrets and is not read", place + 1);
        Self::of_csv(first, what, "")
    }

    /// None of the tables in a dump has the column. The operator is shown the list of tables.
    pub fn of_tables(tables: &[String], wanted: &str) -> Self {
        let what = format!("no INSERT or COPY statement has a column {wanted}");
        let tables = tables.join(", ");
        let more = format!(
            "; the tables are {tables}. Name it with --column, as in --column users.email, or give \
             its number, as in --column users.2"
        );
        Self { what, more }
    }

    /// Shows only the number of cells in the first row, since they may be secrets if there is no
    /// header.
    fn of_csv<'c>(first: impl Iterator<Item = &'c [u8]>, what: String, hint: &str) -> Self {
        let columns = first.count();
        // A single column suggests that the delimiter is wrong.
        let more = if columns == 1 {
            format!(
                "; its first row has 1 column{hint}. --delimiter sets the column separator; lines \
                 such as https://shop/login:address:secret need stealer-logs load --format ulp"
            )
        } else {
            format!(
                "; its first row has {columns} columns{hint}. A column can also be given by \
                 number; --delimiter sets the separator"
            )
        };
        Self { what, more }
    }

    /// Returns the message to store with the job, without anything from the file.
    pub fn without_names(&self) -> String {
        self.what.clone()
    }
}

/// Lists the numbers (from 1) of the columns at these indexes.
fn numbers(places: &[usize]) -> String {
    let numbers: Vec<String> = places.iter().map(|place| (place + 1).to_string()).collect();
    numbers.join(" and ")
}

impl fmt::Display for MissingColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, more } = self;
        write!(f, "{what}{more}")
    }
}

impl std::error::Error for MissingColumn {}

impl From<MissingColumn> for io::Error {
    fn from(missing: MissingColumn) -> Self {
        Self::other(missing)
    }
}
