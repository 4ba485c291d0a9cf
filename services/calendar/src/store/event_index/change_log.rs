//! Log of changed events, used to update the index.

use database::{DatabaseError, Db, on_backend};
use diesel::dsl::{max, min};
use diesel::prelude::*;

use crate::store::schema::event_changes;
use crate::store::sql::Sql;

/// Number of changes to keep for processes that have fallen behind.
const KEPT: i64 = 10_000;

/// Number of bytes of old search text to keep in the log.
const KEPT_BYTES: i64 = 32 << 20;

/// A writer prunes the log whenever this number of bytes of old search text has been added.
const PRUNED_EVERY: i64 = 4 << 20;

/// Maximum number of changes to log per statement.
const ROWS: usize = 1000;

/// Logged in place of an event id when all links to a term, venue or organizer were removed.
pub const LINKS_REMOVED: i64 = 0;

#[derive(Queryable)]
pub struct Change {
    pub event_id: i64,
    /// The search text before the change, if the change affects it.
    pub was: Option<String>,
}

/// Returns the number of the last change, or 0 if there aren't any.
pub fn latest(db: &mut Db) -> Result<i64, DatabaseError> {
    let latest = event_changes::table.select(max(event_changes::seq));
    let latest: Option<i64> = on_backend!(db, conn => latest.get_result(conn)?);
    Ok(latest.unwrap_or(0))
}

/// Returns the number of the oldest change in the log, or 0 if the log is empty.
pub fn oldest(db: &mut Db) -> Result<i64, DatabaseError> {
    let oldest = event_changes::table.select(min(event_changes::seq));
    let oldest: Option<i64> = on_backend!(db, conn => oldest.get_result(conn)?);
    Ok(oldest.unwrap_or(0))
}

/// Returns the changes after `after` up to and including `until`, in order.
pub fn between(db: &mut Db, after: i64, until: i64) -> Result<Vec<Change>, DatabaseError> {
    let changes = event_changes::table
        .filter(event_changes::seq.gt(after).and(event_changes::seq.le(until)))
        .order(event_changes::seq)
        .select((event_changes::event_id, event_changes::was));
    Ok(on_backend!(db, conn => changes.load(conn)?))
}

/// Logs a change. Must run in the same transaction as the change. `was` is the previous search
/// text.
pub fn log_change(db: &mut Db, event: i64, was: Option<&str>) -> Result<(), DatabaseError> {
    let last = event_changes::table.order(event_changes::seq.desc()).select(event_changes::bytes);
    let before: Option<i64> = on_backend!(db, conn => last.first(conn).optional()?);
    let before = before.unwrap_or(0);
    let length = was.map_or(0, |was| i64::try_from(was.len()).unwrap_or(i64::MAX));
    let bytes = before.saturating_add(length);
    let change = (
        event_changes::event_id.eq(event),
        event_changes::bytes.eq(bytes),
        event_changes::was.eq(was),
    );
    on_backend!(db, conn => diesel::insert_into(event_changes::table).values(change).execute(conn)?);
    match before / PRUNED_EVERY == bytes / PRUNED_EVERY {
        true => Ok(()),
        false => prune(db),
    }
}

/// Logs that these events were created. Must run in the same transaction.
pub fn log_new(db: &mut Db, events: &[i64]) -> Result<(), DatabaseError> {
    let last = event_changes::table.order(event_changes::seq.desc()).select(event_changes::bytes);
    let bytes: Option<i64> = on_backend!(db, conn => last.first(conn).optional()?);
    let bytes = bytes.unwrap_or(0);
    let rows: Vec<[i64; 2]> = events.iter().map(|event| [*event, bytes]).collect();
    for rows in rows.chunks(ROWS) {
        let sql = Sql::new(db, "insert into event_changes (event_id, bytes) values ");
        sql.rows(rows).execute(db)?;
    }
    Ok(())
}

/// Removes an event's old search text from the log when the event is erased. Indexes that haven't
/// caught up keep its words, but only for a position that no longer appears in any list.
pub fn forget_texts(db: &mut Db, event: i64) -> Result<(), DatabaseError> {
    forget_texts_statement(db, event).execute(db).map(drop)
}

/// Clears the search text in an event's logged changes.
pub fn forget_texts_statement(db: &Db, event: i64) -> Sql {
    let mut sql = Sql::new(db, "update event_changes set was = null where event_id = ");
    sql.value(event).push(" and was is not null");
    sql
}

/// Deletes all but the most recent changes.
pub fn prune(db: &mut Db) -> Result<(), DatabaseError> {
    let mut sql = Sql::new(db, "delete from event_changes where seq <= ");
    sql.push("(select max(seq) from event_changes) - ").value(KEPT);
    sql.push(" or bytes <= (select max(bytes) from event_changes) - ").value(KEPT_BYTES);
    sql.execute(db).map(drop)
}

/// Makes every process rebuild its index, by dropping the log entries that it would need to catch
/// up.
pub fn rebuild_everywhere(db: &mut Db) -> Result<(), DatabaseError> {
    log_change(db, LINKS_REMOVED, None)?;
    log_change(db, LINKS_REMOVED, None)?;
    let text = "delete from event_changes where seq < (select max(seq) from event_changes)";
    Sql::new(db, text).execute(db).map(drop)
}
