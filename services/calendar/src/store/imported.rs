//! State that imports keep for the events that they wrote.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::imported_events;
use super::sql::Sql;

/// The state that the last import recorded for an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = imported_events)]
pub struct Imported {
    /// Start of the first event of a series in its file, even if an override replaces it.
    pub moment: Option<String>,
    /// Whether the event is private in the file.
    pub is_private: bool,
    /// Whether an import, rather than a user, moved it to the trash.
    pub is_trashed: bool,
}

/// Reads the state of an event.
pub fn find(db: &mut Db, event: i64) -> Result<Imported, DatabaseError> {
    let found = imported_events::table.find(event);
    let noted = found.select(Imported::as_select()).first(db).optional()?;
    Ok(noted.unwrap_or_default())
}

/// Records the state of an event.
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
    let flag = |flag: bool| if flag { "true" } else { "false" };
    let text = "insert into imported_events (event_id, moment, is_private, is_trashed) values (";
    let mut sql = Sql::new(db, text);
    sql.value(event).push(", ");
    match after.moment {
        Some(moment) => sql.bind(moment),
        None => sql.push("null"),
    };
    sql.push(", ").push(flag(after.is_private)).push(", ").push(flag(after.is_trashed)).push(")");
    sql.push(" on conflict (event_id) do update set moment = excluded.moment, ");
    sql.push("is_private = excluded.is_private, is_trashed = excluded.is_trashed");
    sql.execute(db).map(drop)
}

/// Clears the record of who moved an event to the trash, because a user trashed or restored it.
pub fn forget_trash(db: &mut Db, event: i64) -> Result<(), DatabaseError> {
    let trashed = imported_events::table.find(event).filter(imported_events::is_trashed.eq(true));
    diesel::update(trashed).set(imported_events::is_trashed.eq(false)).execute(db)?;
    Ok(())
}
