//! The events of series, and their occurrences.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use super::among_ids::among;
use super::event_index::log_change;
use super::schema::series_events;
use super::series_names::first_to_come;
use super::series_revisions;
use super::sql::Sql;
use crate::model::series::Membership;
use crate::model::status::Status;

/// A row in the `series_events` table.
#[derive(Queryable)]
pub struct MemberRow {
    event: i64,
    pub series: i64,
    occurrence: i64,
    changed: String,
}

/// An occurrence, and the external id of its event.
#[derive(QueryableByName)]
struct NamedOccurrence {
    #[diesel(sql_type = BigInt)]
    occurrence: i64,
    #[diesel(sql_type = Text)]
    name: String,
}

/// Splits the values in a column, which are separated by commas.
pub fn list(text: &str) -> Vec<String> {
    text.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect()
}

impl From<MemberRow> for Membership {
    fn from(row: MemberRow) -> Membership {
        let MemberRow { event, series, occurrence, changed } = row;
        Membership { event, series, occurrence, changed: list(&changed) }
    }
}

/// Returns the membership of an event, if it belongs to a series.
fn find(db: &mut Db, event: i64) -> Result<Option<Membership>, DatabaseError> {
    let row: Option<MemberRow> = series_events::table.find(event).first(db).optional()?;
    Ok(row.map(Membership::from))
}

/// Returns the memberships of all events in series `id`, ordered by occurrence.
pub fn members(db: &mut Db, id: i64) -> Result<Vec<Membership>, DatabaseError> {
    let found = series_events::table
        .filter(series_events::series_id.eq(id))
        .order(series_events::occurrence);
    let rows: Vec<MemberRow> = found.load(db)?;
    Ok(rows.into_iter().map(Membership::from).collect())
}

/// Returns a series' last `most` occurrences, with their events' external ids.
pub fn last_names(db: &mut Db, id: i64, most: i64) -> Result<Vec<(i64, String)>, DatabaseError> {
    let text = "select m.occurrence as occurrence, e.ical_uid as name from series_events m \
        join events e on e.id = m.event_id where e.ical_uid is not null and m.series_id = ";
    let mut sql = Sql::new(db, text);
    sql.value(id).push(" order by m.occurrence desc limit ").value(most);
    let rows: Vec<NamedOccurrence> = sql.load(db)?;
    Ok(rows.into_iter().map(|row| (row.occurrence, row.name)).collect())
}

/// Adds an event to a series, or changes its occurrence.
pub fn join(db: &mut Db, place: &Membership) -> Result<(), DatabaseError> {
    let known = find(db, place.event)?;
    if known.as_ref() == Some(place) {
        return Ok(());
    }
    if let Some(former) = known.filter(|known| known.series != place.series) {
        series_revisions::keep(db, former.event, former.series)?;
    }
    // Another event might still occupy this occurrence until it is assigned its own.
    diesel::delete(
        series_events::table.filter(
            series_events::series_id
                .eq(place.series)
                .and(series_events::occurrence.eq(place.occurrence))
                .and(series_events::event_id.ne(place.event)),
        ),
    )
    .execute(db)?;
    let text = "insert into series_events (event_id, series_id, occurrence, changed) values (";
    let mut sql = Sql::new(db, text);
    sql.value(place.event).push(", ").value(place.series).push(", ").value(place.occurrence);
    sql.push(", ").bind(place.changed.join(",")).push(") on conflict (event_id) do update set ");
    sql.push("series_id = excluded.series_id, occurrence = excluded.occurrence, ");
    sql.push("changed = excluded.changed");
    sql.execute(db)?;
    log_change(db, place.event, None)
}

/// Removes all events from a series before they are reassigned.
pub fn clear(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    diesel::delete(series_events::table.filter(series_events::series_id.eq(id))).execute(db)?;
    Ok(())
}

/// Removes an event from its series. The event itself remains.
pub fn leave(db: &mut Db, event: i64) -> Result<(), DatabaseError> {
    if let Some(place) = find(db, event)? {
        series_revisions::keep(db, event, place.series)?;
    }
    let left = diesel::delete(series_events::table.find(event)).execute(db)?;
    if left > 0 { log_change(db, event, None) } else { Ok(()) }
}

/// The event data that feeds and pages need for a series.
#[derive(QueryableByName)]
pub struct Dated {
    #[diesel(sql_type = BigInt)]
    pub id: i64,
    #[diesel(sql_type = BigInt)]
    pub occurrence: i64,
    #[diesel(sql_type = Text)]
    pub changed: String,
    #[diesel(sql_type = Text)]
    pub status: String,
    /// 1 if the event is in public lists.
    #[diesel(sql_type = BigInt)]
    pub is_public: i64,
    /// 1 if the event isn't going ahead as announced.
    #[diesel(sql_type = BigInt)]
    pub has_status: i64,
}

impl Dated {
    pub fn is_trashed(&self) -> bool {
        Status::stored(self.status.clone()).is_trashed()
    }
}

/// Returns all events in a series, ordered by occurrence.
pub fn dated(db: &mut Db, id: i64) -> Result<Vec<Dated>, DatabaseError> {
    let text = "select e.id as id, m.occurrence as occurrence, m.changed as changed, \
         e.status as status, cast(e.pub as bigint) as is_public, \
         cast((select count(*) from event_statuses s where s.event_id = e.id) as bigint) \
         as has_status \
         from series_events m join events e on e.id = m.event_id where m.series_id = ";
    let mut sql = Sql::new(db, text);
    sql.value(id).push(" order by m.occurrence");
    sql.load(db)
}

/// The fields that determine who can see events in lists. Several events in a series can have the
/// same visibility.
#[derive(QueryableByName)]
pub struct Visibility {
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = BigInt)]
    pub author: i64,
    /// 1 if the events appear in lists.
    #[diesel(sql_type = BigInt)]
    pub is_listed: i64,
}

impl Visibility {
    pub fn status(&self) -> Status {
        Status::stored(self.status.clone())
    }
}

/// Returns the distinct visibilities of a series' events.
pub fn visibilities(db: &mut Db, id: i64) -> Result<Vec<Visibility>, DatabaseError> {
    let text = "select distinct e.status as status, e.author_id as author, \
         cast(case when e.listed then 1 else 0 end as bigint) as is_listed \
         from series_events m join events e on e.id = m.event_id where m.series_id = ";
    let mut sql = Sql::new(db, text);
    sql.value(id);
    sql.load(db)
}

/// Returns the ids of up to `most` public events in a series that start after `after_utc`.
pub fn upcoming(
    db: &mut Db,
    id: i64,
    after_utc: i64,
    most: i64,
) -> Result<Vec<i64>, DatabaseError> {
    let text = "select e.id as id from series_events m join events e on e.id = m.event_id \
         where e.pub = 1 and m.series_id = ";
    let mut sql = Sql::new(db, text);
    sql.value(id).push(" and e.start_utc > ").value(after_utc);
    sql.push(" order by e.start_utc, e.id limit ").value(most);
    sql.load_ids(db)
}

/// Returns the first public event in the series with this slug that hasn't ended yet, or the last
/// event if all have ended. A cancelled event is only returned if no other event follows it.
pub fn next_of_slug(db: &mut Db, slug: &str, now: i64) -> Result<Option<i64>, DatabaseError> {
    let text = "select e.id as id from series s join series_events m on m.series_id = s.id \
         join events e on e.id = m.event_id where e.pub = 1 and s.slug = ";
    let mut sql = Sql::new(db, text);
    sql.bind(slug.to_owned());
    first_to_come(&mut sql, now);
    Ok(sql.load_ids(db)?.pop())
}

/// Returns the ids of all events in the series with this slug. All parts of a split series share
/// the same slug.
pub fn events_of_slug(db: &mut Db, slug: &str) -> Result<Vec<i64>, DatabaseError> {
    let text = "select m.event_id as id from series s join series_events m on m.series_id = s.id \
         where s.slug = ";
    let mut sql = Sql::new(db, text);
    sql.bind(slug.to_owned()).push(" order by m.event_id");
    sql.load_ids(db)
}

/// Returns (event, series) pairs for the events that belong to a series.
pub fn ids_of_events(db: &mut Db, ids: &[i64]) -> Result<Vec<(i64, i64)>, DatabaseError> {
    let mut found = Vec::new();
    if Sql::new(db, "select count(*) as n from series").number(db)? == 0 {
        return Ok(found);
    }
    for ids in ids.chunks(1000) {
        let some: Vec<(i64, i64)> = on_backend!(db, conn => series_events::table
            .filter(among(series_events::event_id, ids))
            .select((series_events::event_id, series_events::series_id))
            .load(conn)?);
        found.extend(some);
    }
    Ok(found)
}
