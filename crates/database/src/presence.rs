//! Checks that a database still has the tables that the service needs, and that a SQLite file is
//! still at its path. Both can be lost while a server is running.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Text;

use crate::migrate::VERSIONS;
use crate::target::Target;
use crate::{DatabaseError, Db, Migrations};

const REMOVED: &str = "the database file was removed: put it back, or stop the service and \
                       restore a backup";
const REPLACED: &str = "the database file was replaced: put it back, or restart the service to \
                        use the new file";

/// The answer to [`Presence::query`] from a standby. Not a valid name of a table.
const STANDBY: &str = "(standby)";

/// The state of a database that responds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Usable,
    /// The server is a standby, which rejects writes.
    Standby,
    /// The reason that the service can't use the database. The text is public, so it must not
    /// contain any paths.
    Lost(String),
}

/// The file and the tables of a database that a server has opened.
#[derive(Debug)]
pub(crate) struct Presence {
    /// `None` for PostgreSQL.
    file: Option<OpenedFile>,
    query: String,
}

#[derive(Debug)]
struct OpenedFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl Presence {
    /// Notes the file and the tables. The database must already be migrated.
    pub fn new(target: &Target, migrations: &[&Migrations]) -> Self {
        let needed = migrations.iter().flat_map(|source| source.tables);
        let versions = (!migrations.is_empty()).then_some(&VERSIONS);
        let tables = needed.chain(versions).map(|name| format!(", ('{name}')"));
        // The NULL keeps the list valid if it has no tables. The minimum ignores it.
        let list = format!("(VALUES (NULL){})", tables.collect::<String>());
        match target {
            Target::Sqlite(path) => {
                let identity = fs::metadata(path).ok().as_ref().map(identity);
                let file = identity.map(|identity| OpenedFile { path: path.clone(), identity });
                let absent = "needed.name NOT IN (SELECT name FROM sqlite_master)";
                Self { file, query: smallest(&list, absent) }
            }
            Target::Postgres(_) => {
                let missing = smallest(&list, "to_regclass(needed.name) IS NULL");
                let query =
                    format!("CASE WHEN pg_is_in_recovery() THEN '{STANDBY}' ELSE {missing} END");
                Self { file: None, query }
            }
        }
    }

    /// Returns an SQL expression, whose text value is passed to [`health`](Self::health).
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Interprets the value of [`query`](Self::query).
    pub fn health(answer: &str) -> Health {
        match answer {
            "" => Health::Usable,
            STANDBY => Health::Standby,
            table => Health::Lost(format!(
                "the table {table} is missing from the database: restore a backup, or migrate the \
                 database if it is new"
            )),
        }
    }

    /// Checks that the database has the tables.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] with the name of a missing table.
    pub fn require(&self, db: &mut Db) -> Result<(), DatabaseError> {
        let answer: String = diesel::select(sql::<Text>(&self.query)).get_result(db)?;
        match Self::health(&answer) {
            Health::Lost(fault) => Err(DatabaseError::Setup(fault)),
            Health::Usable | Health::Standby => Ok(()),
        }
    }

    /// Returns the inode of the SQLite file, or `None` for PostgreSQL.
    pub fn inode(&self) -> Option<u64> {
        self.file.as_ref().map(|file| file.identity.1)
    }

    /// Returns an error if another file or none is at the path of the SQLite file. Connections keep
    /// using the file that they opened.
    pub fn file_fault(&self) -> Option<&'static str> {
        let OpenedFile { path, identity: opened } = self.file.as_ref()?;
        match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Some(REMOVED),
            // A file that was opened contains at least one page.
            Ok(found) if found.len() == 0 || identity(&found) != *opened => Some(REPLACED),
            _ => None,
        }
    }
}

/// Returns SQL for the first name in `list` that satisfies `condition`, or an empty string.
fn smallest(list: &str, condition: &str) -> String {
    format!(
        "coalesce((WITH needed (name) AS {list} SELECT min(needed.name) FROM needed \
         WHERE {condition}), '')"
    )
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}
