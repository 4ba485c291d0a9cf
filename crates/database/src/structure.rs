//! Checks the structure of a database, but not its contents.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use crate::{DatabaseError, Db};

/// Maximum number of problems to report, not counting foreign keys.
const NAMED: i64 = 20;

/// Returns the structural problems of a database as sentences. There are at most twenty, plus one
/// for each pair of tables with broken foreign keys.
///
/// On SQLite, this checks pages, indexes and foreign keys (`PRAGMA integrity_check` and
/// `foreign_key_check`), which means reading the entire file. On PostgreSQL, it only looks for
/// indexes that an interrupted statement left invalid. Use `pg_amcheck` for anything else.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub fn structural_faults(db: &mut Db) -> Result<Vec<String>, DatabaseError> {
    match db {
        Db::Sqlite(conn) => {
            let mut faults: Vec<String> = diesel::dsl::sql::<Text>(&format!(
                "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok' LIMIT {NAMED}"
            ))
            .load(conn)?;
            let orphans: Vec<(String, String, i64)> = diesel::dsl::sql::<(Text, Text, BigInt)>(
                "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2",
            )
            .load(conn)?;
            faults.extend(orphans.into_iter().map(|(table, parent, rows)| {
                format!("{rows} rows of {table} refer to missing rows of {parent}")
            }));
            Ok(faults)
        }
        Db::Pg(conn) => {
            let invalid: Vec<String> = diesel::dsl::sql::<Text>(&format!(
                "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid ORDER BY 1 LIMIT {NAMED}"
            ))
            .load(conn)?;
            Ok(invalid
                .into_iter()
                .map(|index| format!("the index {index} is invalid: REINDEX it"))
                .collect())
        }
    }
}
