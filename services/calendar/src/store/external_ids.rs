//! External ids of events: the UID from a calendar file, the UID with the start of an occurrence, or
//! the `external_id` of a load.

use std::collections::{HashMap, HashSet};

use database::{Backend, DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use super::events::by_ids;
use super::schema::events;
use super::sql::{Sql, TEXTS, TextRow};
use crate::model::event::Event;

#[derive(QueryableByName)]
struct StartRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    text: String,
    #[diesel(sql_type = BigInt)]
    start_utc: i64,
}

/// Returns the ids and external ids of the event with this UID and of its occurrences, if they
/// start after `later_than` and aren't trashed. For a cancellation, events that a file has already
/// cancelled are left out.
pub fn later_occurrences(
    db: &mut Db,
    uid: &str,
    (later_than, is_cancelling): (i64, bool),
) -> Result<Vec<(i64, String)>, DatabaseError> {
    let text = "select id, ical_uid as text from events where (ical_uid = ";
    let mut sql = Sql::new(db, text);
    sql.bind(uid.to_owned()).push(" or ");
    // An occurrence's external id is the UID, `#`, and the start. `$` is the character after `#`.
    within_external_ids(&mut sql, db.backend(), format!("{uid}#"), format!("{uid}$"));
    sql.push(") and status <> 'trash' and start_utc > ");
    sql.value(later_than);
    if is_cancelling {
        sql.push(" and not exists (select 1 from imported_events where event_id = id");
        sql.push(" and is_cancelled = true)");
    }
    sql.push(" order by id");
    let rows: Vec<TextRow> = sql.load(db)?;
    Ok(rows.into_iter().map(|row| (row.id, row.text)).collect())
}

/// Returns the ids, external ids and starts of the event with this UID and of its occurrences.
pub fn of_uid(db: &mut Db, uid: &str) -> Result<Vec<(i64, String, i64)>, DatabaseError> {
    let mut sql =
        Sql::new(db, "select id, ical_uid as text, start_utc from events where (ical_uid = ");
    sql.bind(uid.to_owned()).push(" or ");
    within_external_ids(&mut sql, db.backend(), format!("{uid}#"), format!("{uid}$"));
    sql.push(") order by id");
    let rows: Vec<StartRow> = sql.load(db)?;
    Ok(rows.into_iter().map(|row| (row.id, row.text, row.start_utc)).collect())
}

/// Returns the revisions of the event with this UID and of its occurrences, keyed by external id.
pub fn revisions(db: &mut Db, uid: &str) -> Result<HashMap<String, i64>, DatabaseError> {
    let mut sql =
        Sql::new(db, "select sequence as id, ical_uid as text from events where (ical_uid = ");
    sql.bind(uid.to_owned()).push(" or ");
    within_external_ids(&mut sql, db.backend(), format!("{uid}#"), format!("{uid}$"));
    sql.push(")");
    let rows: Vec<TextRow> = sql.load(db)?;
    Ok(rows.into_iter().map(|row| (row.text, row.id)).collect())
}

/// Returns the highest revision among the event with this UID and its occurrences, if there are
/// any.
pub fn most_revisions(db: &mut Db, uid: &str) -> Result<Option<i64>, DatabaseError> {
    Ok(revisions(db, uid)?.into_values().max())
}

/// Returns up to 100 events with external ids from `from` to `below` (exclusive), in byte order.
pub fn in_range(db: &mut Db, from: &str, below: &str) -> Result<Vec<Event>, DatabaseError> {
    let mut sql = Sql::new(db, "select id, ical_uid as text from events where ");
    within_external_ids(&mut sql, db.backend(), from.to_owned(), below.to_owned());
    sql.push(" order by id limit 100");
    let rows: Vec<TextRow> = sql.load(db)?;
    let ids: Vec<i64> = rows.into_iter().map(|row| row.id).collect();
    by_ids(db, &ids)
}

/// Returns whether any event other than `event` has this UID or is an occurrence of the series with
/// this UID.
pub fn has_others_of_uid(db: &mut Db, uid: &str, event: i64) -> Result<bool, DatabaseError> {
    let mut sql = Sql::new(db, "select count(*) as n from (select 1 from events where id <> ");
    sql.value(event).push(" and (ical_uid = ").bind(uid.to_owned()).push(" or ");
    within_external_ids(&mut sql, db.backend(), format!("{uid}#"), format!("{uid}$"));
    sql.push(") limit 1) e");
    Ok(sql.number(db)? > 0)
}

/// Appends a range condition on external ids. Compares bytes, to match the PostgreSQL index.
fn within_external_ids(sql: &mut Sql, backend: Backend, from: String, below: String) {
    let (is_from, is_below) = match backend {
        Backend::Sqlite => (">= ", "< "),
        Backend::Postgres => ("~>=~ ", "~<~ "),
    };
    sql.push("ical_uid ").push(is_from).bind(from);
    sql.push(" and ical_uid ").push(is_below).bind(below);
}

/// Returns which of the external ids are in use, either by events or as series UIDs.
pub fn known(db: &mut Db, ids: &[&str]) -> Result<HashSet<String>, DatabaseError> {
    let mut known = HashSet::new();
    for ids in ids.chunks(TEXTS) {
        let mut sql = Sql::new(db, "select id, ical_uid as text from events where ical_uid in ");
        sql.texts(ids.iter().copied());
        sql.push(" union all select id, uid as text from series where uid in ");
        sql.texts(ids.iter().copied());
        let rows: Vec<TextRow> = sql.load(db)?;
        known.extend(rows.into_iter().map(|row| row.text));
    }
    Ok(known)
}

/// Changes an event's external id.
pub fn rename(db: &mut Db, id: i64, external_id: &str) -> Result<(), DatabaseError> {
    let renamed = diesel::update(events::table.find(id));
    renamed.set(events::external_id.eq(external_id)).execute(db)?;
    Ok(())
}

/// Clears an event's external id so that another event can use it.
pub fn forget(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    Sql::new(db, &format!("update events set ical_uid = null where id = {id}"))
        .execute(db)
        .map(drop)
}
