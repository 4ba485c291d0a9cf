//! Permanently removes rows and everything that refers to them.

use database::{DatabaseError, Db};
use diesel::sql_types::{BigInt, Text};

use super::changes::has_tombstone;
use super::event_index::{forget_texts, log_change};
use super::sql::Sql;
use super::{
    external_ids, imported, links, series, series_events, series_names, series_revisions,
    site_items, slugs, subscribed_events, terms,
};
use crate::model::event::{Event, Links};
use crate::model::linked::Linked;
use crate::model::series_ids::{local_day, occurrence_of};

/// Tables with an image column.
const ILLUSTRATED: [&str; 3] = ["events", "venues", "organizers"];

/// Removes an event along with its links, old slugs, old search text and import state. Also removes
/// its image if nothing else uses it, and returns whether it did. Keeps a tombstone, which doesn't
/// contain any text.
pub fn event(db: &mut Db, event: &Event, now: i64) -> Result<bool, DatabaseError> {
    let id = event.id;
    let with = links::of_event(db, id)?;
    links::replace(db, event, &with, &Links::default())?;
    terms::recount(db, Some((event, &with)), None)?;
    for child in
        Sql::new(db, &format!("select id from events where parent_id = {id}")).load_ids(db)?
    {
        Sql::new(db, &format!("update events set parent_id = null where id = {child}"))
            .execute(db)?;
        log_change(db, child, None)?;
    }
    if let Some(name) = &event.external_id {
        // All events in a series share the revision of the series UID.
        let (uid, key) = match occurrence_of(name) {
            Some((uid, key)) => (uid, Some(key.to_owned())),
            None => (&**name, imported::find(db, id)?.moment),
        };
        let is_last = !external_ids::has_others_of_uid(db, uid, id)?;
        if is_last || name != uid {
            imported::forget_revision(db, name)?;
        }
        if is_last && name != uid {
            imported::forget_revision(db, uid)?;
        }
        if is_last {
            imported::forget_overrides(db, uid)?;
        } else if let Some(key) = key {
            // A series' first event has the plain UID, whereas an override of it has an occurrence
            // id. An override of any event can name only the day.
            let day = local_day(&key, &event.schedule.zone);
            for key in [Some(key), day].into_iter().flatten() {
                imported::forget_revision(db, &format!("{uid}#{key}"))?;
            }
        }
    }
    forget_texts(db, id)?;
    log_change(db, id, None)?;
    // If the event has a tombstone, its id must not be reused.
    if !has_tombstone(db, id)? {
        site_items::forget(db, "events", id)?;
    }
    subscribed_events::note_erased(db, event)?;
    let series = series::of_event(db, id)?;
    let series_sequence = series.as_ref().map_or(0, |membership| membership.series.sequence);
    imported::note_erased(db, event.sequence.max(series_sequence))?;
    let series_id = series.as_ref().map(|membership| membership.series.id);
    series_revisions::keep_erased(db, event, series_id)?;
    series_events::leave(db, id)?;
    if let Some(membership) = series {
        series::remove_empty(db, membership.series.id)?;
    }
    row(db, "events", (id, event.image), now)
}

/// Removes a venue or organizer in the same way as [`event`].
pub fn linked(db: &mut Db, linked: &Linked, now: i64) -> Result<bool, DatabaseError> {
    links::remove_linked(db, linked.kind, linked.id)?;
    site_items::forget(db, linked.kind.collection(), linked.id)?;
    row(db, linked.kind.collection(), (linked.id, linked.image), now)
}

fn row(
    db: &mut Db,
    table: &str,
    (id, image): (i64, Option<i64>),
    now: i64,
) -> Result<bool, DatabaseError> {
    slugs::forget_all(db, table, id)?;
    series_names::forget_event(db, id)?;
    Sql::new(db, &format!("delete from {table} where id = {id}")).execute(db)?;
    Sql::new(db, &format!("delete from entities where id = {id}")).execute(db)?;
    match image {
        Some(image) => unused_image(db, image, now),
        None => Ok(false),
    }
}

/// Removes an image if it is unused. Returns whether it was removed.
fn unused_image(db: &mut Db, id: i64, now: i64) -> Result<bool, DatabaseError> {
    for table in ILLUSTRATED {
        let used = format!("select count(*) as n from {table} where image_id = {id}");
        if Sql::new(db, &used).number(db)? > 0 {
            return Ok(false);
        }
    }
    let mut sql = Sql::new(db, "insert into erased_files (file, erased_utc) select file, ");
    sql.value(now).push(" from images where file is not null and id = ").value(id);
    sql.push(" on conflict (file) do update set erased_utc = excluded.erased_utc");
    sql.execute(db)?;
    Sql::new(db, &format!("delete from images where id = {id}")).execute(db)?;
    Sql::new(db, &format!("delete from entities where id = {id}")).execute(db)?;
    Ok(true)
}

/// Number of erased image files to read at a time.
pub const FILES: usize = 100;

/// The file of an erased image.
#[derive(diesel::QueryableByName)]
pub struct ErasedFile {
    #[diesel(sql_type = Text)]
    pub file: String,
    #[diesel(sql_type = BigInt)]
    pub erased_utc: i64,
    /// Number of images that still use the file.
    #[diesel(sql_type = BigInt)]
    pub uses: i64,
}

/// Returns the next erased image files after the given time and name.
pub fn files(
    db: &mut Db,
    (erased_utc, file): (i64, &str),
) -> Result<Vec<ErasedFile>, DatabaseError> {
    let text = "select f.file, f.erased_utc, (select count(*) from images i where i.file = f.file) \
        as uses from erased_files f where (f.erased_utc, f.file) > (";
    let mut sql = Sql::new(db, text);
    sql.value(erased_utc).push(", ").bind(file).push(") order by f.erased_utc, f.file limit ");
    sql.push(&FILES.to_string());
    sql.load(db)
}

/// Returns whether there are any erased image files to process.
pub fn has_files(db: &mut Db) -> Result<bool, DatabaseError> {
    let text = "select count(*) as n from (select 1 from erased_files limit 1) f";
    Ok(Sql::new(db, text).number(db)? > 0)
}

/// Removes a file from the list of erased image files.
pub fn forget_file(db: &mut Db, file: &str) -> Result<(), DatabaseError> {
    let mut sql = Sql::new(db, "delete from erased_files where file = ");
    sql.bind(file.to_owned());
    sql.execute(db).map(drop)
}

/// Returns up to `most` ids of rows that were trashed before the given time.
pub fn trashed(
    db: &mut Db,
    table: &str,
    before: i64,
    most: i64,
) -> Result<Vec<i64>, DatabaseError> {
    let mut sql = Sql::new(db, "select id from ");
    sql.push(table).push(" where status = 'trash' and modified_utc < ").value(before);
    sql.push(" order by id limit ").value(most);
    sql.load_ids(db)
}

/// Counts the rows that were trashed before the given time.
pub fn count_trashed(db: &mut Db, table: &str, before: i64) -> Result<i64, DatabaseError> {
    let mut sql = Sql::new(db, "select count(*) as n from ");
    sql.push(table).push(" where status = 'trash' and modified_utc < ").value(before);
    sql.number(db)
}
