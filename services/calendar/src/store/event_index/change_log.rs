//! The log of changed events, which the index follows.

use database::{DatabaseError, Db, on_backend};
use diesel::dsl::{max, min};
use diesel::prelude::*;

use crate::store::schema::event_changes;
use crate::store::sql::Sql;

/// Number of changes that stay in the log for processes that follow it.
const KEPT: i64 = 10_000;

/// Bytes of old texts that stay in the log.
const KEPT_BYTES: i64 = 32 << 20;

/// Bytes of old texts after which a writer prunes the log itself.
const PRUNED_EVERY: i64 = 4 << 20;

/// Logged in place of the id of an event: all links to a term, venue or organizer were removed.
pub const LINKS_REMOVED: i64 = 0;

/// A change of an event.
#[derive(Queryable)]
pub struct Change {
    pub event_id: i64,
    /// The searched text before the change, if it changed.
    pub was: Option<String>,
}

/// Returns the number of the last change; 0 before the first.
pub fn latest(db: &mut Db) -> Result<i64, DatabaseError> {
    let latest = event_changes::table.select(max(event_changes::seq));
    let latest: Option<i64> = on_backend!(db, conn => latest.get_result(conn)?);
    Ok(latest.unwrap_or(0))
}

/// Returns the number of the oldest change in the log; 0 if it is empty.
pub fn oldest(db: &mut Db) -> Result<i64, DatabaseError> {
    let oldest = event_changes::table.select(min(event_changes::seq));
    let oldest: Option<i64> = on_backend!(db, conn => oldest.get_result(conn)?);
    Ok(oldest.unwrap_or(0))
}

/// Reads the changes after one number up to another, in order.
pub fn between(db: &mut Db, after: i64, until: i64) -> Result<Vec<Change>, DatabaseError> {
    let changes = event_changes::table
        .filter(event_changes::seq.gt(after).and(event_changes::seq.le(until)))
        .order(event_changes::seq)
        .select((event_changes::event_id, event_changes::was));
    Ok(on_backend!(db, conn => changes.load(conn)?))
}

/// Logs a change in the transaction that makes it. `was` is the searched text before.
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

/// Removes the old texts of an event that is being removed. An index that has not read them keeps
/// words for an event that no list can have.
pub fn forget_texts(db: &mut Db, event: i64) -> Result<(), DatabaseError> {
    let mut sql = Sql::new(db, "update event_changes set was = null where event_id = ");
    sql.value(event).push(" and was is not null");
    sql.execute(db).map(drop)
}

/// Deletes all but the last changes.
pub fn prune(db: &mut Db) -> Result<(), DatabaseError> {
    let mut sql = Sql::new(db, "delete from event_changes where seq <= ");
    sql.push("(select max(seq) from event_changes) - ").value(KEPT);
    sql.push(" or bytes <= (select max(bytes) from event_changes) - ").value(KEPT_BYTES);
    sql.execute(db).map(drop)
}

/// Makes all processes rebuild their index: the log begins after the changes that they know.
pub fn rebuild_everywhere(db: &mut Db) -> Result<(), DatabaseError> {
    log_change(db, LINKS_REMOVED, None)?;
    log_change(db, LINKS_REMOVED, None)?;
    let text = "delete from event_changes where seq < (select max(seq) from event_changes)";
    Sql::new(db, text).execute(db).map(drop)
}
