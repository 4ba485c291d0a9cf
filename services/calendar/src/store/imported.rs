//! What imports have to know of events that they wrote.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::imported_events;
use super::sql::Sql;

/// What the last import noted of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = imported_events)]
pub struct Imported {
    /// The start that the first event of a series has in its file, whatever replaces it.
    pub moment: Option<String>,
    /// The file has it private.
    pub is_private: bool,
    /// An import moved it to the trash, not a person.
    pub is_trashed: bool,
}

/// Reads what was noted of an event.
pub fn find(db: &mut Db, event: i64) -> Result<Imported, DatabaseError> {
    let found = imported_events::table.find(event);
    let noted = found.select(Imported::as_select()).first(db).optional()?;
    Ok(noted.unwrap_or_default())
}

/// Notes something of an event.
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

/// Forgets who moved an event to the trash: it is moved there by a person, or restored.
pub fn forget_trash(db: &mut Db, event: i64) -> Result<(), DatabaseError> {
    let trashed = imported_events::table.find(event).filter(imported_events::is_trashed.eq(true));
    diesel::update(trashed).set(imported_events::is_trashed.eq(false)).execute(db)?;
    Ok(())
}
