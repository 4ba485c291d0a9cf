//! Lists events that have changed since a given time, and tombstones for events that are no longer
//! visible.

use database::{DatabaseError, Db};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Integer};

use super::conditions::visible;
use super::event_index::{EventIndex, ListError};
use super::sql::Sql;
use crate::model::changes::{Change, ChangeFilter};
use crate::model::event::Event;
use crate::model::list::Unpublished;

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    at: i64,
    #[diesel(sql_type = Integer)]
    gone: i32,
}

/// The audience of an event in lists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Audience {
    NoOne,
    /// Editors and the event's author.
    Insiders,
    Everybody,
}

impl Audience {
    fn of(event: &Event) -> Audience {
        match event.is_public() {
            true => Audience::Everybody,
            false if event.listed && !event.status.is_trashed() => Audience::Insiders,
            false => Audience::NoOne,
        }
    }
}

/// Creates or removes an event's tombstone. An event has a tombstone while it is hidden from
/// someone who used to see it in lists.
pub fn note(db: &mut Db, old: &Event, new: &Event) -> Result<(), DatabaseError> {
    let (before, now) = (Audience::of(old), Audience::of(new));
    let changed_hands = old.author != new.author && before == Audience::Insiders;
    if now < before || (changed_hands && now != Audience::Everybody) {
        let text = "insert into event_tombstones (event_id, withdrawn_utc, was_public, author_id) \
             values (";
        let mut sql = Sql::new(db, text);
        sql.value(new.id).push(", ").value(new.modified_utc);
        sql.push(if before == Audience::Everybody { ", true, " } else { ", false, " });
        sql.value(old.author).push(
            ") on conflict (event_id) do update set withdrawn_utc = excluded.withdrawn_utc, \
             was_public = event_tombstones.was_public or excluded.was_public, \
             author_id = excluded.author_id",
        );
        return sql.execute(db).map(drop);
    }
    if now == before {
        return Ok(());
    }
    let mut sql = Sql::new(db, "delete from event_tombstones where event_id = ");
    sql.value(new.id);
    if now == Audience::Insiders {
        sql.push(" and not was_public");
    }
    sql.execute(db).map(drop)
}

/// Returns whether an event has a tombstone. Tombstones outlive erased events.
pub fn has_tombstone(db: &mut Db, event: i64) -> Result<bool, DatabaseError> {
    let mut sql = Sql::new(db, "select count(*) as n from event_tombstones where event_id = ");
    sql.value(event);
    Ok(sql.number(db)? > 0)
}

/// Returns the first changes in chronological order, and the total count. Must run in a read
/// transaction.
pub fn page(
    db: &mut Db,
    index: &EventIndex,
    filter: &ChangeFilter,
    rows: i64,
) -> Result<(Vec<Change>, i64), ListError> {
    let (mut changes, changed) = match index.changes(db, filter, rows)? {
        Some(changes) => changes,
        None => read(db, filter, rows, changed)?,
    };
    let (gone, withdrawn) = read(db, filter, rows, withdrawn)?;
    changes.extend(gone);
    changes.sort_by_key(|change| (change.at, change.event));
    changes.truncate(usize::try_from(rows).unwrap_or(usize::MAX));
    Ok((changes, changed + withdrawn))
}

/// Reads the first changes of one kind, and the total count.
fn read(
    db: &mut Db,
    filter: &ChangeFilter,
    rows: i64,
    append: fn(&mut Sql, &ChangeFilter),
) -> Result<(Vec<Change>, i64), DatabaseError> {
    let mut sql = Sql::new(db, "");
    append(&mut sql, filter);
    sql.push(" order by 2, 1 limit ").value(rows);
    let found: Vec<Row> = sql.load(db)?;
    let change = |row: Row| Change { event: row.id, at: row.at, is_gone: row.gone == 1 };
    let mut sql = Sql::new(db, "select count(*) as n from (");
    append(&mut sql, filter);
    sql.push(") x");
    Ok((found.into_iter().map(change).collect(), sql.number(db)?))
}

fn changed(sql: &mut Sql, filter: &ChangeFilter) {
    sql.push("select e.id as id, e.modified_utc as at, 0 as gone from events e where ");
    visible(sql, &filter.scope);
    sql.push(" and (e.modified_utc, e.id) > (").value(filter.since);
    sql.push(", ").value(filter.behind).push(")");
}

fn withdrawn(sql: &mut Sql, filter: &ChangeFilter) {
    sql.push("select w.event_id as id, w.withdrawn_utc as at, 1 as gone from event_tombstones w ");
    sql.push("where (w.withdrawn_utc, w.event_id) > (").value(filter.since);
    sql.push(", ").value(filter.behind).push(")");
    match &filter.scope.unpublished {
        Unpublished::None => {
            sql.push(" and w.was_public");
        }
        Unpublished::Of { author: Some(author), .. } => {
            sql.push(" and (w.was_public or w.author_id = ").value(*author).push(")");
        }
        Unpublished::Of { author: None, .. } => {}
    }
    // Callers who can still see the event get a change instead of a tombstone.
    sql.push(" and not exists (select 1 from events e where e.id = w.event_id and ");
    visible(sql, &filter.scope);
    sql.push(")");
}
