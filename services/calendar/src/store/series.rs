//! Rows of series, looked up by id, UID or event.

use std::collections::HashMap;
use std::sync::Arc;

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;
use diesel::sql_types::Text;

use super::among_ids::among;
use super::event_index::log_change;
use super::schema::{series, series_events};
use super::series_events::{MemberRow, list, members};
use super::series_revisions::revised;
use super::sql::Sql;
use super::{series_names, series_origins};
use crate::model::event::Event;
use crate::model::included::InSeries;
use crate::model::recurrence::counting_start;
use crate::model::series::{Membership, Plan, Series};
use crate::model::series_ids::occurrence_of;
use crate::model::zone::Zone;

/// A row in the `series` table.
#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = series)]
#[diesel(treat_none_as_null = true)]
#[diesel(treat_none_as_default_value = false)]
pub struct Row {
    id: i64,
    uid: String,
    slug: String,
    timezone: String,
    all_day: bool,
    start_local: i64,
    end_local: i64,
    duration: String,
    rule: String,
    rdates: String,
    exdates: String,
    most: i64,
    made_until: i64,
    due_utc: Option<i64>,
    sequence: i64,
    modified_utc: i64,
}

/// The UID of a series.
#[derive(QueryableByName)]
struct Named {
    #[diesel(sql_type = Text)]
    uid: String,
}

impl From<Row> for Series {
    fn from(row: Row) -> Series {
        let plan = Plan {
            zone: Zone::parse(&row.timezone).unwrap_or_else(Zone::utc),
            all_day: row.all_day,
            start_local: row.start_local,
            end_local: row.end_local,
            duration: row.duration,
            rule: counting_start(row.rule),
            rdates: list(&row.rdates),
            exdates: list(&row.exdates),
        };
        Series {
            id: row.id,
            uid: row.uid,
            slug: row.slug,
            plan,
            most: row.most,
            made_until: row.made_until,
            due_utc: row.due_utc,
            sequence: row.sequence,
            modified_utc: row.modified_utc,
        }
    }
}

fn row(series: &Series) -> Row {
    let plan = &series.plan;
    Row {
        id: series.id,
        uid: series.uid.clone(),
        slug: series.slug.clone(),
        timezone: plan.zone.name().to_owned(),
        all_day: plan.all_day,
        start_local: plan.start_local,
        end_local: plan.end_local,
        duration: plan.duration.clone(),
        rule: plan.rule.clone(),
        rdates: plan.rdates.join(","),
        exdates: plan.exdates.join(","),
        most: series.most,
        made_until: series.made_until,
        due_utc: series.due_utc,
        sequence: series.sequence,
        modified_utc: series.modified_utc,
    }
}

/// Combines memberships with their series. The result is keyed by event id.
pub fn by_event(
    members: impl Iterator<Item = MemberRow>,
    rows: impl Iterator<Item = Row>,
) -> HashMap<i64, InSeries> {
    let known: HashMap<i64, Arc<Series>> =
        rows.map(|row| (row.id, Arc::new(Series::from(row)))).collect();
    let members = members.map(Membership::from);
    let found = members.filter_map(|membership| {
        let series = Arc::clone(known.get(&membership.series)?);
        Some((membership.event, InSeries { series, membership }))
    });
    found.collect()
}

/// Returns the series that these events belong to, keyed by event id. Events without a series are
/// omitted.
pub fn of_events(db: &mut Db, ids: &[i64]) -> Result<HashMap<i64, InSeries>, DatabaseError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let members: Vec<MemberRow> = on_backend!(db, conn => series_events::table
        .filter(among(series_events::event_id, ids))
        .load(conn)?);
    let mut wanted: Vec<i64> = members.iter().map(|member| member.series).collect();
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<Row> = on_backend!(db, conn => series::table
        .filter(among(series::id, &wanted))
        .select(Row::as_select())
        .load(conn)?);
    Ok(by_event(members.into_iter(), rows.into_iter()))
}

/// Returns the event's series and its membership, if any.
pub fn of_event(db: &mut Db, id: i64) -> Result<Option<InSeries>, DatabaseError> {
    Ok(of_events(db, &[id])?.remove(&id))
}

pub fn find(db: &mut Db, id: i64) -> Result<Option<Series>, DatabaseError> {
    let row = series::table.find(id).select(Row::as_select()).first(db).optional()?;
    Ok(row.map(|row: Row| row.into()))
}

pub fn find_by_uid(db: &mut Db, uid: &str) -> Result<Option<Series>, DatabaseError> {
    let found = series::table.filter(series::uid.eq(uid));
    let row = found.select(Row::as_select()).first(db).optional()?;
    Ok(row.map(|row: Row| row.into()))
}

/// Returns the UIDs of series that continue the series with this UID from a later occurrence.
pub fn continued_uids(db: &mut Db, uid: &str) -> Result<Vec<String>, DatabaseError> {
    let prefix = format!("{uid}#");
    let length = i64::try_from(prefix.chars().count()).unwrap_or(i64::MAX);
    let mut sql = Sql::new(db, "select uid from series where substr(uid, 1, ");
    sql.value(length).push(") = ").bind(prefix).push(" order by id");
    let found: Vec<Named> = sql.load(db)?;
    let found = found.into_iter().map(|named| named.uid);
    let is_occurrence =
        |longer: &String| occurrence_of(longer).is_some_and(|(shorter, _)| shorter == uid);
    Ok(found.filter(is_occurrence).collect())
}

/// Returns whether this is the last series with its slug. All parts of a split series share the
/// same slug.
pub fn is_last_of_slug(db: &mut Db, series: &Series) -> Result<bool, DatabaseError> {
    let later = series::table.filter(series::slug.eq(&series.slug).and(series::id.gt(series.id)));
    Ok(later.select(series::id).first::<i64>(db).optional()?.is_none())
}

/// Returns a series' `SEQUENCE` in feeds, which never decreases.
pub fn sequence(db: &mut Db, series: &Series) -> Result<i64, DatabaseError> {
    Ok(revised(db, series)?.sequence)
}

/// Inserts a new series and returns it with its id.
pub fn insert(db: &mut Db, new: &Series) -> Result<Series, DatabaseError> {
    let Row { uid, slug, timezone, duration, rule, rdates, exdates, .. } = row(new);
    let columns = "uid, slug, timezone, all_day, start_local, end_local, duration, rule, rdates, \
         exdates, most, made_until, due_utc, sequence, modified_utc";
    let mut sql = Sql::new(db, &format!("insert into series ({columns}) values ("));
    for text in [uid, slug, timezone] {
        sql.bind(text).push(", ");
    }
    sql.push(if new.plan.all_day { "true, " } else { "false, " });
    sql.value(new.plan.start_local).push(", ").value(new.plan.end_local);
    for text in [duration, rule, rdates, exdates] {
        sql.push(", ").bind(text);
    }
    sql.push(", ").value(new.most).push(", ").value(new.made_until).push(", ");
    match new.due_utc {
        Some(due) => sql.value(due),
        None => sql.push("null"),
    };
    sql.push(", ").value(new.sequence).push(", ").value(new.modified_utc).push(") returning id");
    let id = sql.load_ids(db)?.pop().ok_or(DatabaseError::NotFound)?;
    series_origins::begin(db, id, -id)?;
    Ok(Series { id, ..new.clone() })
}

/// Inserts a part that was split off from the series `former`, and returns it with its id.
pub fn insert_part(db: &mut Db, new: &Series, former: i64) -> Result<Series, DatabaseError> {
    let new = insert(db, new)?;
    series_origins::share(db, (former, new.id))?;
    Ok(new)
}

/// Changes a series. Its revision never decreases.
pub fn update(db: &mut Db, new: &Series) -> Result<(), DatabaseError> {
    let mut new = revised(db, new)?;
    if let Some(known) = find(db, new.id)? {
        new.sequence = new.sequence.max(known.sequence);
        new.modified_utc = new.modified_utc.max(known.modified_utc);
    }
    diesel::update(series::table.find(new.id)).set(row(&new)).execute(db)?;
    Ok(())
}

/// Removes a series, leaving its events as standalone events.
pub fn remove(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    let members: Vec<i64> = members(db, id)?.iter().map(|member| member.event).collect();
    for member in &members {
        log_change(db, *member, None)?;
    }
    // The first event keeps the series UID in feeds, so its revisions continue from the series'
    // revisions. If it has been erased, this applies to the other events instead, because they
    // might become a series with this UID again.
    if let Some(known) = find(db, id)? {
        series_names::note_removed(db, (id, &known.slug), &members)?;
        let Series { uid, sequence, modified_utc, .. } = revised(db, &known)?;
        let mut first = Sql::new(db, "select count(*) as n from events where ical_uid = ");
        first.bind(uid.clone());
        let has_first = first.number(db)? > 0;
        let mut sql = Sql::new(db, "update events set sequence = ");
        sql.value(sequence + 1).push(" where sequence <= ").value(sequence).push(" and ");
        match has_first {
            true => sql.push("ical_uid = ").bind(uid.clone()),
            false => {
                sql.push("id in (select event_id from series_events where series_id = ");
                sql.value(id).push(")")
            }
        };
        sql.execute(db)?;
        let mut sql = Sql::new(db, "update events set modified_utc = ");
        sql.value(modified_utc).push(" where ical_uid = ").bind(uid);
        sql.push(" and status <> 'trash' and modified_utc < ").value(modified_utc);
        sql.execute(db)?;
    }
    Sql::new(db, &format!("delete from series_events where series_id = {id}")).execute(db)?;
    diesel::delete(series::table.find(id)).execute(db)?;
    Ok(())
}

/// Excludes an event's occurrence from its series if the event was trashed, and includes it again
/// if the event was restored.
pub fn note_trash(db: &mut Db, event: &Event) -> Result<(), DatabaseError> {
    let Some(InSeries { series, membership }) = of_event(db, event.id)? else { return Ok(()) };
    let mut series = Series::clone(&series);
    let key = series.plan.key(membership.occurrence);
    let excluded = &mut series.plan.exdates;
    match (event.status.is_trashed(), excluded.binary_search(&key)) {
        (true, Err(place)) => excluded.insert(place, key),
        (false, Ok(place)) => drop(excluded.remove(place)),
        _ => return Ok(()),
    }
    series.sequence = sequence(db, &series)? + 1;
    update(db, &series)
}

/// Removes a series if it has no events left.
pub fn remove_empty(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    let text = format!("select count(*) as n from series_events where series_id = {id}");
    match Sql::new(db, &text).number(db)? {
        0 => remove(db, id),
        _ => Ok(()),
    }
}
