//! Finds traces of people whose data was removed, including those in SQLite's write-ahead log.

use std::path::PathBuf;

use database::{DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

/// Empties the write-ahead log. If that's not possible now, prints a warning and leaves it to a
/// server.
pub fn clear_log_or_warn(db: &mut Db) -> Result<(), DatabaseError> {
    match database::clear_log(db) {
        Err(DatabaseError::Busy) => {
            log::warn!(
                "the write-ahead log is in use and may contain what was removed; a server empties it \
                 later"
            );
            Ok(())
        }
        done => done,
    }
}

#[derive(QueryableByName)]
struct FileName {
    #[diesel(sql_type = Text)]
    file: String,
}

/// Returns the path of a SQLite database. `None` for in-memory databases and PostgreSQL.
pub fn file(db: &mut Db) -> Result<Option<PathBuf>, DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(None) };
    let name = "SELECT file FROM pragma_database_list WHERE name = 'main'";
    let found: FileName = diesel::sql_query(name).get_result(conn)?;
    Ok(Some(found.file).filter(|file| !file.is_empty()).map(PathBuf::from))
}

/// Tables that don't contain addresses in plain text. They're large, and [`super::accounts`] can
/// find their rows by key.
const NO_ADDRESSES: &str = "'account', 'account_block', 'account_run', 'breach', 'data_class', \
    'domain_account', 'domain_block', 'mail_domain', 'opt_out', 'paste_account', 'run_filter', \
    'staged', 'stealer_log'";

#[derive(QueryableByName)]
struct Column {
    #[diesel(sql_type = Text)]
    table_name: String,
    #[diesel(sql_type = Text)]
    column_name: String,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// Finds text columns that contain an address, along with the number of matching rows.
pub fn with_text(db: &mut Db, address: &str) -> Result<Vec<(String, i64)>, DatabaseError> {
    let columns = match db {
        Db::Sqlite(_) => format!(
            "SELECT m.name AS table_name, c.name AS column_name FROM sqlite_master m \
             JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND upper(c.type) = 'TEXT' \
             AND m.name NOT LIKE 'sqlite_%' AND m.name NOT IN ({NO_ADDRESSES}) \
             ORDER BY m.name, c.cid"
        ),
        Db::Pg(_) => format!(
            "SELECT table_name::TEXT AS table_name, column_name::TEXT AS column_name \
             FROM information_schema.columns WHERE table_schema = current_schema() \
             AND data_type = 'text' AND table_name NOT IN ({NO_ADDRESSES}) \
             AND table_name NOT LIKE 'account\\_%' AND table_name NOT LIKE 'stealer\\_log\\_%' \
             ORDER BY table_name, ordinal_position"
        ),
    };
    let columns: Vec<Column> = diesel::sql_query(columns).load(db)?;
    let find = match db {
        Db::Sqlite(_) => "instr(lower(COLUMN), ?) > 0",
        Db::Pg(_) => "strpos(lower(COLUMN), $1) > 0",
    };
    let mut found = Vec::new();
    for Column { table_name, column_name } in columns {
        let condition = find.replace("COLUMN", &format!("\"{column_name}\""));
        let count = format!("SELECT count(*) AS number FROM \"{table_name}\" WHERE {condition}");
        let count: Number =
            diesel::sql_query(count).bind::<Text, _>(address.to_lowercase()).get_result(db)?;
        if count.number > 0 {
            found.push((format!("{table_name}.{column_name}"), count.number));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_are_not_searched_exist() {
        let schema = include_str!("schema.rs");
        for name in NO_ADDRESSES.split(',') {
            let name = name.trim().trim_matches('\'');
            assert!(schema.contains(&format!("    {name} (")), "{name}");
        }
    }
}
