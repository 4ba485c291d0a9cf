//! Keeps track of the events that imports have written.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::{calendar_identity, imported_events, imported_revisions};
use super::sql::Sql;
use crate::model::revision::{Revision, alone};
use crate::model::series_ids::occurrence_of;

/// Number of revisions to delete per statement.
const AT_ONCE: usize = 500;

/// An event's state as of the last import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = imported_events)]
pub struct Imported {
    /// For a series' first event, the event's start in the file, even if an override replaces the
    /// event.
    pub moment: Option<String>,
    /// Whether the event is private in the file.
    pub is_private: bool,
    /// Whether the event was trashed by an import rather than a user.
    pub is_trashed: bool,
    /// Whether the file cancelled the event.
    pub is_cancelled: bool,
    /// Whether the file postponed the event.
    pub is_postponed: bool,
    /// Whether an import created the event.
    pub is_created: bool,
}

pub fn find(db: &mut Db, event: i64) -> Result<Imported, DatabaseError> {
    let found = imported_events::table.find(event);
    let noted = found.select(Imported::as_select()).first(db).optional()?;
    Ok(noted.unwrap_or_default())
}

/// Updates an event's import state.
pub fn note(
    db: &mut Db,
    event: i64,
    change: impl FnOnce(&mut Imported),
) -> Result<(), DatabaseError> {
    let before = find(db, event)?;
    let mut after = before.clone();
    change(&mut after);
    if after == before {
        return Ok(());
    }
    replace(db, event, after)
}

/// Records an event's import state, replacing any earlier one.
pub fn replace(db: &mut Db, event: i64, after: Imported) -> Result<(), DatabaseError> {
    let flag = |flag: bool| if flag { "true" } else { "false" };
    let text = "insert into imported_events (event_id, moment, is_private, is_trashed, ";
    let mut sql = Sql::new(db, text);
    sql.push("is_cancelled, is_postponed, is_created) values (");
    sql.value(event).push(", ");
    match after.moment {
        Some(moment) => sql.bind(moment),
        None => sql.push("null"),
    };
    sql.push(", ").push(flag(after.is_private)).push(", ").push(flag(after.is_trashed));
    sql.push(", ").push(flag(after.is_cancelled)).push(", ").push(flag(after.is_postponed));
    sql.push(", ").push(flag(after.is_created));
    sql.push(")");
    sql.push(" on conflict (event_id) do update set moment = excluded.moment, ");
    sql.push("is_private = excluded.is_private, is_trashed = excluded.is_trashed, ");
    sql.push("is_cancelled = excluded.is_cancelled, is_postponed = excluded.is_postponed, ");
    sql.push("is_created = excluded.is_created");
    sql.execute(db).map(drop)
}

/// Returns whether an import created this event or another event in its series. Scheduled work
/// might have added this event to a series that an import created.
pub fn is_from_file(db: &mut Db, event: i64) -> Result<bool, DatabaseError> {
    if find(db, event)?.is_created {
        return Ok(true);
    }
    let text = "select count(*) as n from series_events own join series_events other on \
        other.series_id = own.series_id join imported_events i on i.event_id = other.event_id \
        where i.is_created = true and own.event_id = ";
    let mut sql = Sql::new(db, text);
    sql.value(event);
    Ok(sql.number(db)? > 0)
}

/// Returns whether a series is private in its file. This depends on the last event that is known to
/// be private or not, because scheduled work might have added later events. A trashed event only
/// counts if all events are trashed, because imports don't hide trashed events. If users turned an
/// event from a file into a series, that event doesn't count, because the other events aren't from
/// that file.
pub fn is_private_series(db: &mut Db, series: i64) -> Result<bool, DatabaseError> {
    let text = "select count(*) as n from (select i.is_private as is_private \
        from series_events m join imported_events i on i.event_id = m.event_id \
        join events e on e.id = m.event_id join series s on s.id = m.series_id \
        where (i.is_created = true or i.is_private = true) \
        and (i.moment is not null or m.event_id <> s.origin) and m.series_id = ";
    let mut sql = Sql::new(db, text);
    sql.value(series).push(" order by case when e.status = 'trash' then 1 else 0 end, ");
    sql.push("m.occurrence desc limit 1) latest where is_private = true");
    Ok(sql.number(db)? > 0)
}

/// Returns whether a series has an event that starts after `start_local`. `parent` is the series'
/// first event.
pub fn has_later_event(db: &mut Db, parent: i64, start_local: i64) -> Result<bool, DatabaseError> {
    let text = format!(
        "select count(*) as n from (select 1 from events where (id = {parent} or parent_id = {parent}) \
         and start_local > {start_local} limit 1) e"
    );
    Ok(Sql::new(db, &text).number(db)? > 0)
}

/// Clears the flag for events trashed by an import, because someone has trashed or restored the
/// event since.
pub fn forget_trash(db: &mut Db, event: i64) -> Result<(), DatabaseError> {
    let trashed = imported_events::table.find(event).filter(imported_events::is_trashed.eq(true));
    diesel::update(trashed).set(imported_events::is_trashed.eq(false)).execute(db)?;
    Ok(())
}

/// Returns the id that identifies this calendar in its feeds.
pub fn calendar_id(db: &mut Db) -> Result<String, DatabaseError> {
    Ok(calendar_identity::table.select(calendar_identity::id).first(db)?)
}

/// Returns the latest imported revision of an entry, if any. `name` is a UID or, for overrides, an
/// occurrence id.
pub fn revision(db: &mut Db, name: &str) -> Result<Option<Revision>, DatabaseError> {
    let columns =
        (imported_revisions::sequence, imported_revisions::modified, imported_revisions::stamped);
    let found = imported_revisions::table.find(name).select(columns);
    let row: Option<(Option<i64>, Option<i64>, Option<i64>)> = found.first(db).optional()?;
    Ok(row.map(|(sequence, modified, stamped)| Revision { sequence, modified, stamped }))
}

/// Deletes the recorded revisions of an event's entries.
pub fn forget_revision(db: &mut Db, name: &str) -> Result<(), DatabaseError> {
    for name in [name, &alone(name)] {
        diesel::delete(imported_revisions::table.find(name)).execute(db)?;
    }
    Ok(())
}

/// Deletes the recorded revisions of a series' overrides.
pub fn forget_overrides(db: &mut Db, uid: &str) -> Result<(), DatabaseError> {
    let mut names: Vec<String> =
        override_revisions(db, uid)?.into_iter().map(|(name, _)| name).collect();
    // Another UID can start with this one.
    names.retain(|name| occurrence_of(name).is_some_and(|(own, _)| own == uid));
    for some in names.chunks(AT_ONCE) {
        let mut sql = Sql::new(db, "delete from imported_revisions where name in ");
        sql.texts(some.iter().map(String::as_str));
        sql.execute(db)?;
    }
    Ok(())
}

/// The name in the row that holds the highest SEQUENCE of all erased events. Entries never have an
/// empty name.
const ERASED: &str = "";

/// Records the SEQUENCE that an event had in feeds, because it is being erased.
pub fn note_erased(db: &mut Db, sequence: i64) -> Result<(), DatabaseError> {
    note_revision(db, ERASED, Revision { sequence: Some(sequence), ..Revision::default() })
}

/// Returns the initial SEQUENCE for new events with an external id. An erased event might have had
/// the same UID, and subscribers ignore entries with a lower SEQUENCE than they have already seen.
pub fn first_sequence(db: &mut Db) -> Result<i64, DatabaseError> {
    let erased = revision(db, ERASED)?.and_then(|erased| erased.sequence);
    Ok(erased.map_or(0, |sequence| sequence.saturating_add(1)))
}

/// Returns the latest imported revisions of a series' overrides, with their ids.
pub fn override_revisions(
    db: &mut Db,
    uid: &str,
) -> Result<Vec<(String, Revision)>, DatabaseError> {
    type Row = (String, Option<i64>, Option<i64>, Option<i64>);
    // An occurrence id is the UID, `#`, and the start. `$` is the character after `#`.
    let rows: Vec<Row> = imported_revisions::table
        .filter(imported_revisions::name.ge(format!("{uid}#")))
        .filter(imported_revisions::name.lt(format!("{uid}$")))
        .load(db)?;
    let revision =
        |(name, sequence, modified, stamped)| (name, Revision { sequence, modified, stamped });
    Ok(rows.into_iter().map(revision).collect())
}

/// Returns whether a newer revision of the entry is already recorded.
pub fn is_outdated(
    db: &mut Db,
    name: &str,
    revision: Option<Revision>,
) -> Result<bool, DatabaseError> {
    let Some(revision) = revision else { return Ok(false) };
    let known = self::revision(db, name)?;
    Ok(known.is_some_and(|known| revision.is_older_than(&known)))
}

/// Records the revision of an entry, unless a newer one is already recorded.
pub fn note_revision(db: &mut Db, name: &str, revision: Revision) -> Result<(), DatabaseError> {
    let known = self::revision(db, name)?;
    if known.is_some_and(|known| revision.is_older_than(&known)) {
        return Ok(());
    }
    let revision = revision.after(known);
    if known == Some(revision) {
        return Ok(());
    }
    let number = |number: Option<i64>| number.map_or("null".to_owned(), |n| n.to_string());
    let text = "insert into imported_revisions (name, sequence, modified, stamped) values (";
    let mut sql = Sql::new(db, text);
    sql.bind(name.to_owned()).push(", ").push(&number(revision.sequence)).push(", ");
    sql.push(&number(revision.modified)).push(", ").push(&number(revision.stamped));
    sql.push(") on conflict (name) do update set sequence = excluded.sequence, ");
    sql.push("modified = excluded.modified, stamped = excluded.stamped");
    sql.execute(db).map(drop)
}
