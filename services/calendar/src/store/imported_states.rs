//! The states of events right after an import, which show whether anyone has changed them since.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::{imported_edits, imported_overrides};
use super::sql::Sql;
use crate::model::event::Event;
use crate::model::revision::Revision;

/// The latest edited entry that changed an event. The entry comes from this calendar's own file.
pub struct Edit {
    /// Fingerprint of the event's content before the first edit, if the event existed.
    pub original: Option<i64>,
    /// The entry's revision.
    pub revision: Revision,
}

/// Records an event's state after its override was imported along with its series.
pub fn note_override(db: &mut Db, event: &Event) -> Result<(), DatabaseError> {
    let text = "insert into imported_overrides (event_id, sequence, modified) values (";
    let mut sql = Sql::new(db, text);
    sql.value(event.id).push(", ").value(event.sequence).push(", ").value(event.modified_utc);
    sql.push(") on conflict (event_id) do update set sequence = excluded.sequence, ");
    sql.push("modified = excluded.modified");
    sql.execute(db).map(drop)
}

/// Deletes what [`note_override`] recorded, if the event hasn't changed since. Returns whether it
/// did.
pub fn take_override(db: &mut Db, event: &Event) -> Result<bool, DatabaseError> {
    let unchanged = imported_overrides::table
        .find(event.id)
        .filter(imported_overrides::sequence.eq(event.sequence))
        .filter(imported_overrides::modified.eq(event.modified_utc));
    Ok(diesel::delete(unchanged).execute(db)? > 0)
}

/// Records an event's state after an edited entry was imported.
pub fn note_edit(db: &mut Db, event: &Event, edit: &Edit) -> Result<(), DatabaseError> {
    let number = |number: Option<i64>| number.map_or("null".to_owned(), |n| n.to_string());
    let Edit { original, revision: Revision { sequence, modified, stamped } } = *edit;
    let mut sql = Sql::new(db, "insert into imported_edits (event_id, sequence, modified, ");
    sql.push("original, file_sequence, file_modified, file_stamped) values (");
    sql.value(event.id).push(", ").value(event.sequence).push(", ").value(event.modified_utc);
    for value in [original, sequence, modified, stamped] {
        sql.push(", ").push(&number(value));
    }
    sql.push(") on conflict (event_id) do update set sequence = excluded.sequence, ");
    sql.push("modified = excluded.modified, original = excluded.original, ");
    sql.push("file_sequence = excluded.file_sequence, file_modified = excluded.file_modified, ");
    sql.push("file_stamped = excluded.file_stamped");
    sql.execute(db).map(drop)
}

/// Returns what [`note_edit`] recorded, unless the event has changed since.
pub fn edit(db: &mut Db, event: &Event) -> Result<Option<Edit>, DatabaseError> {
    type Row = (Option<i64>, Option<i64>, Option<i64>, Option<i64>);
    let unchanged = imported_edits::table
        .find(event.id)
        .filter(imported_edits::sequence.eq(event.sequence))
        .filter(imported_edits::modified.eq(event.modified_utc))
        .select((
            imported_edits::original,
            imported_edits::file_sequence,
            imported_edits::file_modified,
            imported_edits::file_stamped,
        ));
    let found: Option<Row> = unchanged.first(db).optional()?;
    Ok(found.map(|(original, sequence, modified, stamped)| {
        let revision = Revision { sequence, modified, stamped };
        Edit { original, revision }
    }))
}
