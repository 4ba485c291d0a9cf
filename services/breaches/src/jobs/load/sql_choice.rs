//! Chooses the column to read in each table of a SQL dump.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;

use super::address_titles::{self, Choice};
use super::missing_column::MissingColumn;
use super::secret_names;

/// Maximum number of tables, or of columns that may contain the addresses, to list in an error or
/// report.
const LISTED: usize = 20;
/// Maximum length of a table's column names in an error, in bytes.
const LONGEST: usize = 2_000;

/// Chooses the column given by the operator, or else one named like an address column.
#[derive(Debug, Default)]
pub struct ColumnChoice {
    /// The lowercase name or number (from 1) of a column, optionally after a table and a dot.
    wanted: Option<String>,
    /// Columns that were found.
    found: BTreeSet<String>,
    /// Tables without the column, for the error message.
    listed: Vec<String>,
    /// The last choice. Many dumps have one statement per row.
    last: Option<Last>,
    /// The last table without known columns, and the number of values in its rows.
    width: Option<(String, usize)>,
}

#[derive(Debug)]
struct Last {
    table: String,
    columns: Vec<String>,
    place: Option<usize>,
}

impl ColumnChoice {
    pub fn new(wanted: Option<&str>) -> Self {
        Self { wanted: wanted.map(str::to_lowercase), ..Self::default() }
    }

    /// Returns the index of the column to read, or `None` if the table doesn't have it. `columns`
    /// is empty if their names are unknown.
    ///
    /// # Errors
    /// Fails if several columns may contain the addresses, or if the column contains secrets.
    pub fn place(&mut self, table: &str, columns: &[String]) -> io::Result<Option<usize>> {
        if let Some(last) = &self.last
            && last.table == table
            && last.columns == columns
        {
            return Ok(last.place);
        }
        let place = self.find(table, columns)?;
        if let Some(title) = place.and_then(|place| columns.get(place))
            && secret_names::is_secret(title)
        {
            return Err(io::Error::other("the column contains secrets and is not read"));
        }
        match place {
            Some(place) if self.found.len() < LISTED => {
                self.found.insert(match columns.get(place) {
                    Some(column) => format!("{table}.{column}"),
                    None => format!("{table}.{}", place + 1),
                });
            }
            None if self.listed.len() < LISTED => {
                let names = match columns {
                    [] => "no column names".to_owned(),
                    columns => columns.join(" "),
                };
                let names = &names[..names.floor_char_boundary(LONGEST)];
                let listed = format!("{table} ({names})");
                if !self.listed.contains(&listed) {
                    self.listed.push(listed);
                }
            }
            _ => {}
        }
        let (table, columns) = (table.to_owned(), columns.to_owned());
        self.last = Some(Last { table, columns, place });
        Ok(place)
    }

    fn find(&self, table: &str, columns: &[String]) -> io::Result<Option<usize>> {
        if let Some(wanted) = &self.wanted {
            let own = wanted.strip_prefix(table).and_then(|rest| rest.strip_prefix('.'));
            let named =
                columns.iter().position(|name| name == wanted || Some(name.as_str()) == own);
            return Ok(named.or_else(|| numbered(own.unwrap_or(wanted), columns)));
        }
        match address_titles::choose(columns.iter().map(String::as_str)) {
            Choice::Column(place) => Ok(Some(place)),
            Choice::Missing => Ok(None),
            Choice::Ambiguous(places) => {
                let name = |place: &usize| columns.get(*place).map(String::as_str);
                let names: Vec<&str> = places.iter().filter_map(name).take(LISTED).collect();
                Err(MissingColumn::ambiguous_in_table(table, &names).into())
            }
        }
    }

    /// Returns a check for the rows of a statement.
    pub fn row_width(&self, table: &str, columns: &[String], is_listed: bool) -> RowWidth {
        let known = self.width.as_ref().filter(|(name, _)| name == table);
        let first = Cell::new(known.map(|(_, width)| *width));
        RowWidth { columns: columns.len(), is_listed, first }
    }

    /// Remembers the number of values in the rows of a table without known columns.
    pub fn keep_width(&mut self, table: String, rows: &RowWidth) {
        if rows.columns == 0
            && let Some(width) = rows.first.get()
        {
            self.width = Some((table, width));
        }
    }

    /// Returns the columns that were found.
    ///
    /// # Errors
    /// Fails if no table has the column. The error lists the tables.
    pub fn finish(self) -> io::Result<BTreeSet<String>> {
        if !self.found.is_empty() {
            return Ok(self.found);
        }
        Err(match self.listed.as_slice() {
            [] => io::Error::other("the file has no INSERT or COPY statement"),
            listed => {
                let wanted = self.wanted.as_deref().unwrap_or("of addresses");
                MissingColumn::of_tables(listed, wanted).into()
            }
        })
    }
}

/// Returns the index of a column given by its number (from 1).
fn numbered(text: &str, columns: &[String]) -> Option<usize> {
    let place = text.parse::<usize>().ok()?.checked_sub(1)?;
    (columns.is_empty() || place < columns.len()).then_some(place)
}

/// Recognizes rows whose values may have been shifted.
#[derive(Debug)]
pub struct RowWidth {
    /// Number of columns. 0 if unknown.
    columns: usize,
    /// Whether the statement lists its columns.
    is_listed: bool,
    /// Number of values in the table's first row.
    first: Cell<Option<usize>>,
}

impl RowWidth {
    /// Returns `false` if a row's values may have been shifted. If the statement doesn't list the
    /// columns, a row can omit the last ones. If the columns are unknown, all rows must be as long
    /// as the first one.
    pub fn fits(&self, values: usize) -> bool {
        if self.is_listed {
            return values == self.columns;
        }
        if self.columns > 0 {
            return values <= self.columns;
        }
        let first = self.first.get().unwrap_or(values);
        self.first.set(Some(first));
        values == first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::load::each::{Found, address, collect};
    use crate::jobs::load::skip_reason::SkipReason;
    use crate::jobs::load::sql_reader::read;

    fn all(text: &str, column: Option<&str>) -> Result<Found, String> {
        collect(|each| read(text.as_bytes(), column, each).map(drop))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn column_without_a_name_is_given_by_its_number() {
        let dump = "INSERT INTO users VALUES (1,'a@b.example');\n\
                    INSERT INTO users VALUES (2,'x','y@z.example'),\n(3,'c@d.example');\n\
                    COPY users FROM stdin;\n4\te@f.example\n\\.\n";
        let expected = [
            address(1, "a@b.example"),
            (2, Err(SkipReason::Column)),
            address(3, "c@d.example"),
            address(5, "e@f.example"),
        ];
        for column in ["2", "users.2"] {
            assert_eq!(all(dump, Some(column)).unwrap(), expected, "{column}");
        }
        for column in [None, Some("email"), Some("logs.2"), Some("0")] {
            let refused = all(dump, column).unwrap_err();
            assert!(refused.contains("the tables are users (no column names)"), "{refused}");
            assert!(refused.contains("--column users.2"), "{refused}");
        }
    }

    #[test]
    fn number_of_a_column_with_secrets_is_refused() {
        let dump =
            "CREATE TABLE t (id int, password text); INSERT INTO t VALUES (1,'x@y.example');";
        assert!(all(dump, Some("2")).unwrap_err().contains("secrets"));
        assert!(all(dump, Some("3")).unwrap_err().contains("t (id password)"));
    }

    #[test]
    fn errors_list_a_limited_number_of_names() {
        let rows = |name: &str| {
            let columns: Vec<String> = (0..2_000).map(|n| format!("{name}{n}")).collect();
            format!("INSERT INTO t ({}) VALUES (1);", columns.join(","))
        };
        let refused = all(&rows("email"), None).unwrap_err();
        assert!(refused.contains("email0 and email1 and email2"), "{refused}");
        assert!(refused.len() < LISTED * 20, "{refused}");
        let refused = all(&rows("näme"), None).unwrap_err();
        assert!(refused.contains("the tables are t (näme0 näme1 "), "{refused}");
        assert!(refused.len() < 2 * LONGEST, "{refused}");
    }

    #[test]
    fn hexadecimal_and_double_quoted_strings_are_read() {
        for value in [
            "'a@b.example'",
            "\"a@b.example\"",
            "0x6140622E6578616d706c65",
            "X'6140622e6578616d706c65'",
            "x'6140622e6578616d706c65'",
            "CAST('a@b.example' AS CHAR)",
            "CONVERT(0x6140622e6578616d706c65 USING utf8mb4)",
        ] {
            let dump = format!("INSERT INTO t (id, email, x) VALUES (0x01, {value}, 0xFF);");
            assert_eq!(all(&dump, None).unwrap(), [address(1, "a@b.example")], "{value}");
        }
    }
}
