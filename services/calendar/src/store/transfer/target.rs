//! Checks and tracks the database that an export is loaded into, and saves counters that aren't
//! part of any row.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use serde::{Deserialize, Serialize};

use super::rows::TABLES;
use crate::store::entities;
use crate::store::event_index::rebuild_everywhere;
use crate::store::sql::Sql;

/// The last allocated ids. They are exported because ids of erased rows must not be reused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sequences {
    entities: i64,
    users: i64,
    terms: i64,
    webhooks: i64,
    #[serde(default)]
    subscriptions: i64,
    series: i64,
    /// Exported because webhook receivers recognise repeated messages by id.
    #[serde(default)]
    webhook_outbox: i64,
}

impl Sequences {
    fn each(&self) -> [(&'static str, i64); 7] {
        let Sequences { entities, users, terms, webhooks, subscriptions, series, webhook_outbox } =
            *self;
        [
            ("entities", entities),
            ("users", users),
            ("terms", terms),
            ("webhooks", webhooks),
            ("subscriptions", subscriptions),
            ("series", series),
            ("webhook_outbox", webhook_outbox),
        ]
    }
}

/// Reads the last allocated ids.
pub fn sequences(db: &mut Db) -> Result<Sequences, DatabaseError> {
    let mut last = |table: &str| {
        let text = match db {
            Db::Sqlite(_) => format!(
                "select coalesce((select seq from sqlite_sequence where name = '{table}'), 0) as n"
            ),
            Db::Pg(_) => format!(
                "select coalesce((select last_value from pg_sequences where \
                 schemaname = current_schema() and sequencename = '{table}_id_seq'), 0) as n"
            ),
        };
        Sql::new(db, &text).number(db)
    };
    Ok(Sequences {
        entities: last("entities")?,
        users: last("users")?,
        terms: last("terms")?,
        webhooks: last("webhooks")?,
        subscriptions: last("subscriptions")?,
        series: last("series")?,
        webhook_outbox: last("webhook_outbox")?,
    })
}

/// Returns the content version. It increases with every change.
pub fn content_version(db: &mut Db) -> Result<i64, DatabaseError> {
    Sql::new(db, "select n from content_version").number(db)
}

/// Returns whether the database is as empty as after the first start, which creates at most one
/// user.
pub fn is_empty(db: &mut Db) -> Result<bool, DatabaseError> {
    for (_, rows) in TABLES {
        let count = Sql::new(db, &format!("select count(*) as n from {rows}")).number(db)?;
        if count > i64::from(*rows == "users") {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A load that hasn't finished.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct Unfinished {
    #[diesel(sql_type = Text)]
    pub export_id: String,
    /// Number of the last line that was loaded.
    #[diesel(sql_type = BigInt)]
    pub line: i64,
}

/// Returns the unfinished load, if any.
pub fn unfinished(db: &mut Db) -> Result<Option<Unfinished>, DatabaseError> {
    let rows: Vec<Unfinished> =
        Sql::new(db, "select export_id, line from unfinished_load").load(db)?;
    Ok(rows.into_iter().next())
}

/// Starts a load into an empty database. Removes the user created by the first start.
pub fn begin(db: &mut Db, export_id: &str) -> Result<(), DatabaseError> {
    Sql::new(db, "delete from users").execute(db)?;
    let mut sql = Sql::new(db, "insert into unfinished_load (export_id, line) values (");
    sql.bind(export_id.to_owned()).push(", 1)");
    sql.execute(db).map(drop)
}

/// Records the last line that was loaded.
pub fn note_line(db: &mut Db, line: i64) -> Result<(), DatabaseError> {
    Sql::new(db, &format!("update unfinished_load set line = {line}")).execute(db).map(drop)
}

/// Finishes a load by restoring the counters that aren't part of any row.
pub fn finish(
    db: &mut Db,
    (identity, content_version): (&str, i64),
    last: &Sequences,
) -> Result<(), DatabaseError> {
    let mut sql = Sql::new(db, "update calendar_identity set id = ");
    sql.bind(identity.to_owned());
    sql.execute(db)?;
    // A version that the source has already used must not refer to different content here.
    let mut sql = Sql::new(db, "update content_version set n = case when n < ");
    sql.value(content_version).push(" then ").value(content_version).push(" else n end + 1");
    sql.execute(db)?;
    for (table, id) in last.each().into_iter().filter(|(_, id)| *id > 0) {
        entities::raise_sequence(db, table, id)?;
    }
    rebuild_everywhere(db)?;
    Sql::new(db, "delete from unfinished_load").execute(db).map(drop)
}
