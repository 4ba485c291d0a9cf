//! Redirects from old series slugs.

use database::{DatabaseError, Db};

use super::slugs;
use super::sql::{Sql, TextRow};

/// The collection name for the old slugs of renamed series. These redirects are keyed by series id.
const RENAMED: &str = "series";

/// The collection name for the slugs of removed series. These redirects are keyed by the id of the
/// series' first event.
const REMOVED: &str = "series_dates";

/// Records a series' old slug after it has been renamed.
pub fn note_renamed(db: &mut Db, id: i64, old: &str) -> Result<(), DatabaseError> {
    slugs::note_former(db, RENAMED, old, id)
}

/// Records the slugs of a series that is being removed, because its events can be restored one by
/// one.
pub fn note_removed(
    db: &mut Db,
    (id, slug): (i64, &str),
    events: &[i64],
) -> Result<(), DatabaseError> {
    if let Some(first) = events.first() {
        let text = "select item_id as id, slug as text from former_slugs where collection = ";
        let mut sql = Sql::new(db, text);
        sql.bind(RENAMED).push(" and item_id = ").value(id);
        let former: Vec<TextRow> = sql.load(db)?;
        for name in former.iter().map(|row| row.text.as_str()).chain([slug]) {
            slugs::note_former(db, REMOVED, name, *first)?;
        }
    }
    slugs::forget_all(db, RENAMED, id)
}

/// Removes the redirects to an event that is being erased.
pub fn forget_event(db: &mut Db, event: i64) -> Result<(), DatabaseError> {
    slugs::forget_all(db, REMOVED, event)
}

/// Returns the current slug of the series that used to have this slug.
pub fn present(db: &mut Db, former: &str) -> Result<Option<String>, DatabaseError> {
    let text = "select s.id as id, s.slug as text from former_slugs f join series s \
         on s.id = f.item_id where f.collection = ";
    let mut sql = Sql::new(db, text);
    sql.bind(RENAMED).push(" and f.slug = ").bind(former);
    let mut found: Vec<TextRow> = sql.load(db)?;
    Ok(found.pop().map(|row| row.text))
}

/// Returns the next public event that remains of a removed series with this slug. Such events are
/// linked through `parent`, which refers to the series' first event.
pub fn next_restored(db: &mut Db, slug: &str, now: i64) -> Result<Option<i64>, DatabaseError> {
    let Some(first) = slugs::owner_of_former(db, REMOVED, slug)? else { return Ok(None) };
    let text = "select e.id as id from events e where e.pub = 1 and (e.id = ";
    let mut sql = Sql::new(db, text);
    sql.value(first).push(" or e.parent_id = ").value(first).push(")");
    first_to_come(&mut sql, now);
    Ok(sql.load_ids(db)?.pop())
}

/// Returns the ids of the events that remain of a removed series with this slug.
pub fn removed_dates(db: &mut Db, slug: &str) -> Result<Vec<i64>, DatabaseError> {
    let Some(first) = slugs::owner_of_former(db, REMOVED, slug)? else { return Ok(Vec::new()) };
    let mut sql = Sql::new(db, "select e.id as id from events e where e.id = ");
    sql.value(first).push(" or e.parent_id = ").value(first).push(" order by e.id");
    sql.load_ids(db)
}

/// Appends an order and a limit that select one of the events `e`. This is the next event that
/// isn't cancelled, or else the next cancelled event, or else the last event.
pub fn first_to_come(sql: &mut Sql, now: i64) {
    sql.push(" order by case when e.end_utc < ").value(now);
    sql.push(" then 2 when exists (select 1 from event_statuses s where s.event_id = e.id and ");
    sql.push("s.status = 'cancelled') then 1 else 0 end, case when e.end_utc >= ").value(now);
    sql.push(" then e.start_utc else -e.start_utc end, e.id limit 1");
}
